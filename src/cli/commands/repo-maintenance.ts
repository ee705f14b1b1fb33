import { readdir, stat } from 'node:fs/promises';
import path from 'node:path';
import type { Command } from 'commander';
import type { Modules } from '../../app/index.ts';
import { conflict, internal, invalid, isDomainError } from '../../kernel/index.ts';
import type { Run } from '../action.ts';
import type { Cli } from '../cli.ts';
import { withExamples } from '../help.ts';
import { counted, readableSize } from '../terminal/output.ts';
import type { Column } from '../terminal/output.ts';
import { showProgress } from '../terminal/progress.ts';
import { findRepository } from './find-repository.ts';

/** `hearth repo gc|fsck|size|hooks`: repositories as git folders. */
export function addRepoMaintenanceCommands(repo: Command, run: Run): void {
  withExamples(
    repo
      .command('gc')
      .description('repack repositories to save disk space and speed up clones')
      .argument('[owner/name]', 'repository')
      .option('--all', 'all repositories')
      .option('--needed', 'repositories that nightly maintenance would pack: those with many packs or loose objects')
      .action(run(gc)),
    'hearth repo gc alice/garden',
    'hearth repo gc --needed',
    'hearth repo gc --all',
  );
  withExamples(
    repo
      .command('fsck')
      .description('check repository integrity; exits with 7 if any are damaged')
      .argument('[owner/name]', 'repository')
      .option('--all', 'all repositories')
      .option('--full', 'read the content of every object')
      .action(run(fsck)),
    'hearth repo fsck --all',
  );
  withExamples(
    repo
      .command('size')
      .description('list repositories by disk usage')
      .option('--top <count>', 'number of repositories to list, largest first', '20')
      .action(run(size)),
    'hearth repo size --top 5',
  );
  withExamples(
    repo
      .command('hooks')
      .description("list hooks in a repository's folder, which Hearth never runs")
      .argument('<owner/name>', 'repository')
      .action(run(hooks)),
    'hearth repo hooks alice/garden',
  );
}

interface Target {
  id: string;
  ownerId: string;
  name: string;
  folder: string;
}

async function targets(modules: Modules, text: string | undefined, all: true | undefined): Promise<Target[]> {
  if ((text === undefined) === (all === undefined)) throw invalid('usage', 'Specify a repository, or use --all.');
  if (text !== undefined) {
    const { repository, canonical, path: folder } = await findRepository(modules, text);
    return [
      {
        id: repository.id,
        ownerId: path.basename(path.dirname(folder)),
        name: `${canonical.owner}/${canonical.name}`,
        folder,
      },
    ];
  }
  const rows = await modules.repositories.listAll();
  return rows.map(({ id, name, owner }) => ({
    id,
    ownerId: owner.id,
    name: `${owner.handle}/${name}`,
    folder: modules.git.storage.pathOf(owner.id, id),
  }));
}

interface Packed {
  name: string;
  before: number;
  after: number;
  tookMs: number;
  skipped: string | null;
}

async function gc(cli: Cli, { all, needed }: { all?: true; needed?: true }, text?: string): Promise<void> {
  if (needed && (all || text !== undefined))
    throw invalid('usage', 'Use --needed without other options: it checks every repository.');
  const modules = await cli.openModules();
  if (await modules.backups.isRunning())
    throw conflict(
      'backup_under_way',
      'A backup is in progress, so nothing can be packed. Try again when it has finished.',
    );
  const rows: Packed[] = [];
  const progress = showProgress(cli);
  const { needsPacking } = await import('../../git/index.ts');
  const list = await targets(modules, text, all ?? needed);
  for (const [done, target] of list.entries()) {
    const { name, folder } = target;
    progress.step({ done, total: list.length, item: name });
    if (needed && !(await needsPacking(folder))) continue;
    const [before, startedAt] = [await bytesBelow(folder), performance.now()];
    const isPacked = await pack(modules, target);
    const tookMs = Math.round(performance.now() - startedAt);
    rows.push({ name, before, after: await bytesBelow(folder), tookMs, skipped: isPacked ? null : 'push in progress' });
  }
  progress.end();
  const columns: Column<Packed>[] = [
    { title: 'OWNER/NAME', cell: (row) => row.name, whole: true },
    { title: 'BEFORE', cell: (row) => ({ bytes: row.before }), align: 'right' },
    { title: 'AFTER', cell: (row) => ({ bytes: row.after }), align: 'right' },
    { title: 'TOOK', cell: (row) => `${(row.tookMs / 1000).toFixed(1)} s`, align: 'right' },
    { title: 'RESULT', cell: (row) => (row.skipped === null ? 'packed' : `skipped (${row.skipped})`) },
  ];
  cli.output.list(rows, columns, ['repository', 'repositories'], (row) => row);
  const reclaimed = rows.reduce((sum, { before, after }) => sum + before - after, 0);
  cli.output.message(
    `${reclaimed < 0 ? 'Used' : 'Reclaimed'} ${readableSize(Math.abs(reclaimed))} in ${counted(rows.length, 'repository', 'repositories')}.`,
  );
}

/** In the running server, which knows about pushes in progress, or here if there is none. */
async function pack(modules: Modules, { id: repositoryId, ownerId, folder }: Target): Promise<boolean> {
  const { runControlCommand } = await import('../../control/index.ts');
  let stderr = '';
  try {
    const code = await runControlCommand(
      modules.config.dataDir,
      { command: 'repo.gc', parameters: { ownerId, repositoryId } },
      { output() {}, writeError: (text) => void (stderr += text) },
    );
    if (code !== 0 && code !== 4) throw internal(stderr);
    return code === 0;
  } catch (error) {
    if (!isDomainError(error) || error.reason !== 'server_not_running') throw error;
    return modules.git.maintenance.pack(folder);
  }
}

async function fsck(cli: Cli, { all, full }: { all?: true; full?: true }, text?: string): Promise<void> {
  const modules = await cli.openModules();
  const progress = showProgress(cli);
  const rows: { name: string; errors: string[] }[] = [];
  const list = await targets(modules, text, all);
  for (const [done, { name, folder }] of list.entries()) {
    progress.step({ done, total: list.length, item: name });
    rows.push({
      name,
      errors: await modules.git.maintenance
        .check(folder, { full: full === true })
        .catch((error: Error) => [error.message]),
    });
  }
  progress.end();
  if (rows.some(({ errors }) => errors.length > 0)) cli.exitCode = 7;
  const columns: Column<(typeof rows)[number]>[] = [
    { title: 'OWNER/NAME', cell: (row) => row.name, whole: true },
    { title: 'RESULT', cell: (row) => (row.errors.length === 0 ? 'ok' : 'damaged') },
    { title: 'FIRST ERROR', cell: (row) => row.errors[0] ?? '' },
  ];
  cli.output.list(rows, columns, ['repository', 'repositories'], (row) => row);
}

async function size(cli: Cli, { top }: { top: string }): Promise<void> {
  if (!/^[1-9]\d{0,5}$/.test(top)) throw invalid('usage', `${JSON.stringify(top)} is not a number of repositories.`);
  const modules = await cli.openModules();
  const rows = [];
  for (const { id, name, folder } of await targets(modules, undefined, true))
    rows.push({ name, gitBytes: await bytesBelow(folder), lfsBytes: (await modules.lfs.usage(id)).bytes });
  rows.sort((a, b) => b.gitBytes + b.lfsBytes - a.gitBytes - a.lfsBytes);
  const columns: Column<(typeof rows)[number]>[] = [
    { title: 'OWNER/NAME', cell: (row) => row.name, whole: true },
    { title: 'GIT', cell: (row) => ({ bytes: row.gitBytes }), align: 'right' },
    { title: 'LFS', cell: (row) => ({ bytes: row.lfsBytes }), align: 'right' },
  ];
  cli.output.list(rows.slice(0, Number(top)), columns, ['repository', 'repositories'], (row) => row);
}

/** Hooks that were added manually or belong to an adopted repository. */
async function hooks(cli: Cli, _options: object, text: string): Promise<void> {
  const modules = await cli.openModules();
  const { path: folder } = await findRepository(modules, text);
  const entries = await readdir(path.join(folder, 'hooks'), { withFileTypes: true }).catch(() => []);
  const rows = entries
    .filter((entry) => !entry.isDirectory() && !entry.name.endsWith('.sample'))
    .map(({ name }) => ({ name, ours: false, runs: false }));
  rows.sort((a, b) => (a.name < b.name ? -1 : 1));
  const columns: Column<(typeof rows)[number]>[] = [
    { title: 'NAME', cell: (row) => row.name, whole: true },
    { title: 'OURS', cell: (row) => (row.ours ? 'yes' : 'no') },
    { title: 'RUNS', cell: (row) => (row.runs ? 'at pushes' : 'never') },
  ];
  cli.output.list(rows, columns, ['hook', 'hooks'], (row) => row);
  cli.output.message(`Hearth never runs git hooks. To notify other programs of pushes: hearth webhook add ${text} URL`);
}

/** Allocated blocks, as `du` counts. */
async function bytesBelow(folder: string): Promise<number> {
  let bytes = 0;
  for (const { parentPath, name } of await readdir(folder, { recursive: true, withFileTypes: true }).catch(() => [])) {
    bytes += ((await stat(path.join(parentPath, name)).catch(() => null))?.blocks ?? 0) * 512;
  }
  return bytes;
}
