import { Argument } from 'commander';
import type { Command } from 'commander';
import type { Modules } from '../../app/index.ts';
import { invalid, isDomainError } from '../../kernel/index.ts';
import type { Run } from '../action.ts';
import type { Cli } from '../cli.ts';
import { withExamples } from '../help.ts';
import { counted } from '../terminal/output.ts';
import type { Column } from '../terminal/output.ts';
import { showProgress } from '../terminal/progress.ts';
import { targets } from './repo-storage.ts';
import type { Target } from './repo-storage.ts';

/** `hearth repo warm`: fetches repositories from the store before the first request. */
export function addRepoWarmCommand(repo: Command, run: Run): void {
  withExamples(
    repo
      .command('warm')
      .description("fetch repositories from the object store into this server's cache")
      .addArgument(new Argument('[owner/name...]', 'repositories'))
      .option('--all', 'the most recently pushed repositories, until half of the cache is full')
      .action(run(warm)),
    'hearth repo warm alice/garden',
    'hearth repo warm --all',
  );
}

interface Warmed {
  name: string;
  bytes: number | null;
  tookMs: number;
  problem: string | null;
}

async function warm(cli: Cli, { all }: { all?: true }, ...given: (string | string[])[]): Promise<void> {
  const names = given.flat().filter((name) => typeof name === 'string');
  if ((names.length === 0) === (all === undefined)) throw invalid('usage', 'Specify repositories, or use --all.');
  const modules = await cli.openModules();
  const wanted = await targets(modules, names);
  const found = all === undefined ? wanted : await byLastPush(modules, wanted);
  const limit = all === undefined ? Infinity : await halfOfCache(modules);
  const progress = showProgress(cli);
  const rows: Warmed[] = [];
  let sum = 0;
  for (const { ownerId, id, name } of found) {
    if (sum >= limit) break;
    progress.step({ done: rows.length, total: found.length, item: name });
    const row = await fetchOne(modules, { ownerId, id, name });
    sum += row.bytes ?? 0;
    if (row.bytes !== null || row.problem !== null || all === undefined) rows.push(row);
  }
  progress.end();
  if (rows.some(({ problem }) => problem !== null)) cli.exitCode = 7;
  const columns: Column<Warmed>[] = [
    { title: 'OWNER/NAME', cell: (row) => row.name, whole: true },
    { title: 'SIZE', cell: (row) => (row.bytes === null ? '' : { bytes: row.bytes }), align: 'right' },
    { title: 'TOOK', cell: (row) => `${(row.tookMs / 1000).toFixed(1)} s`, align: 'right' },
    { title: 'RESULT', cell: (row) => row.problem ?? (row.bytes === null ? 'is not in the store' : 'is in the cache') },
  ];
  cli.output.list(rows, columns, ['repository', 'repositories'], (row) => row);
  if (all !== undefined && rows.length < found.length && sum >= limit)
    cli.output.message(
      `Half of the cache is full. ${counted(found.length - rows.length, 'repository', 'repositories')} skipped.`,
    );
}

async function fetchOne({ git }: Modules, { ownerId, id, name }: Target): Promise<Warmed> {
  const startedAt = performance.now();
  const done = (bytes: number | null, problem: string | null): Warmed => ({
    name,
    bytes,
    tookMs: Math.round(performance.now() - startedAt),
    problem,
  });
  const target = git.storage.pathOf(ownerId, id);
  try {
    const folder = await git.storage.folderOf(target);
    if (folder === target) return done(null, null);
    return done((await git.storage.measure(target)).bytes, null);
  } catch (error) {
    if (!isDomainError(error)) throw error;
    return done(null, error.message);
  }
}

async function byLastPush({ repositories }: Modules, wanted: Target[]): Promise<Target[]> {
  const pushedAt = new Map((await repositories.listAll()).map((each) => [each.id, each.pushedAt ?? 0]));
  return wanted.sort((a, b) => (pushedAt.get(b.id) ?? 0) - (pushedAt.get(a.id) ?? 0));
}

async function halfOfCache({ config }: Modules): Promise<number> {
  const { shareOfDisk } = await import('../../repository-store/index.ts');
  return (config.git.cacheBytes ?? (await shareOfDisk(config.dataDir))) / 2;
}
