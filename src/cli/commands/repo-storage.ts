import path from 'node:path';
import { Argument, Option } from 'commander';
import type { Command } from 'commander';
import type { Modules } from '../../app/index.ts';
import { conflict, invalid, isDomainError } from '../../kernel/index.ts';
import type { Run } from '../action.ts';
import type { Cli } from '../cli.ts';
import { withExamples } from '../help.ts';
import { counted, readableSize } from '../terminal/output.ts';
import type { Column } from '../terminal/output.ts';
import { showProgress } from '../terminal/progress.ts';
import { findRepository } from './find-repository.ts';

type Place = 'local' | 'store';

/** `hearth repo storage`: the primary location of repositories. */
export function addRepoStorageCommand(repo: Command, run: Run): void {
  withExamples(
    repo
      .command('storage')
      .description('move repositories between folders and the object store while the server runs')
      .addArgument(new Argument('[owner/name...]', 'repositories'))
      .addOption(new Option('--to <place>', 'target').choices(['local', 'store']).makeOptionMandatory())
      .option('--all', 'all repositories not yet moved')
      .action(run(move)),
    'hearth repo storage --to store alice/garden',
    'hearth repo storage --to store --all',
    'hearth repo storage --to local --all',
  );
}

export interface Target {
  ownerId: string;
  id: string;
  name: string;
}

interface Moved {
  name: string;
  bytes: number | null;
  tookMs: number;
  problem: string | null;
}

/** Retries of busy repositories, with a pause in between. */
const maxRounds = 3;

async function move(cli: Cli, { to, all }: { to: Place; all?: true }, ...given: (string | string[])[]): Promise<void> {
  const names = given.flat().filter((name) => typeof name === 'string');
  if ((names.length === 0) === (all === undefined)) throw invalid('usage', 'Specify repositories, or use --all.');
  const modules = await cli.openModules();
  if (await modules.backups.isRunning())
    throw conflict(
      'backup_under_way',
      'A backup is in progress, so nothing can be moved. Try again when it has finished.',
    );
  let open = await targets(modules, names);
  const total = open.length;
  const progress = showProgress(cli);
  const rows: Moved[] = [];
  for (let round = 1; open.length > 0; round += 1) {
    const busy: Target[] = [];
    for (const target of open) {
      progress.step({ done: rows.length, total, item: target.name });
      const row = await moveOne(modules, target, to);
      if (row.problem === 'busy' && round < maxRounds) busy.push(target);
      else rows.push(row);
    }
    open = busy;
  }
  progress.end();
  if (rows.some(({ problem }) => problem !== null)) cli.exitCode = 7;
  const columns: Column<Moved>[] = [
    { title: 'OWNER/NAME', cell: (row) => row.name, whole: true },
    { title: 'SIZE', cell: (row) => (row.bytes === null ? '' : { bytes: row.bytes }), align: 'right' },
    { title: 'TOOK', cell: (row) => `${(row.tookMs / 1000).toFixed(1)} s`, align: 'right' },
    { title: 'RESULT', cell: (row) => row.problem ?? (row.bytes === null ? 'is there' : 'moved') },
  ];
  cli.output.list(rows, columns, ['repository', 'repositories'], (row) => row);
  const moved = rows.filter(({ bytes }) => bytes !== null);
  const bytes = moved.reduce((sum, row) => sum + row.bytes!, 0);
  const words = to === 'store' ? 'into the store' : 'into folders';
  cli.output.message(`Moved ${counted(moved.length, 'repository', 'repositories')} (${readableSize(bytes)}) ${words}.`);
}

export async function targets(modules: Modules, names: readonly string[]): Promise<Target[]> {
  if (names.length === 0)
    return (await modules.repositories.listAll()).map(({ id, name, owner }) => ({
      id,
      ownerId: owner.id,
      name: `${owner.handle}/${name}`,
    }));
  const found: Target[] = [];
  for (const text of names) {
    const { repository, canonical, path: folder } = await findRepository(modules, text);
    const ownerId = path.basename(path.dirname(folder));
    found.push({ id: repository.id, ownerId, name: `${canonical.owner}/${canonical.name}` });
  }
  return found;
}

async function moveOne(modules: Modules, { id, ownerId, name }: Target, to: Place): Promise<Moved> {
  const startedAt = performance.now();
  const done = (bytes: number | null, problem: string | null): Moved => {
    const tookMs = Math.round(performance.now() - startedAt);
    return { name, bytes, tookMs, problem };
  };
  try {
    const { bytes, problem } = await inServer(modules, { ownerId, repositoryId: id, place: to });
    return done(bytes, problem);
  } catch (error) {
    if (!isDomainError(error) || error.reason === 'repository_store_not_set') throw error;
    return done(null, error.reason === 'repository_busy' ? 'busy' : error.message);
  }
}

/** In the running server, which holds pushes back during the move, or here if there is none. */
async function inServer(
  modules: Modules,
  parameters: { ownerId: string; repositoryId: string; place: Place },
): Promise<Pick<Moved, 'bytes' | 'problem'>> {
  const { runControlCommand } = await import('../../control/index.ts');
  let [text, stderr] = ['', ''];
  try {
    const code = await runControlCommand(
      modules.config.dataDir,
      { command: 'repo.storage', parameters },
      { output: (chunk) => void (text += chunk.toString('utf8')), writeError: (chunk) => void (stderr += chunk) },
    );
    if (code === 0) return { bytes: (JSON.parse(text) as { bytes: number | null }).bytes, problem: null };
    return { bytes: null, problem: code === 4 ? 'busy' : stderr.trim() };
  } catch (error) {
    if (!isDomainError(error) || error.reason !== 'server_not_running') throw error;
    const { ownerId, repositoryId, place } = parameters;
    const bytes = await modules.git.storage.moveTo(modules.git.storage.pathOf(ownerId, repositoryId), place);
    return { bytes, problem: null };
  }
}
