import type { Command } from 'commander';
import type { Modules } from '../../app/index.ts';
import { conflict } from '../../kernel/index.ts';
import type { LfsFault, ScannedRepository } from '../../lfs/index.ts';
import type { Run } from '../action.ts';
import type { Cli } from '../cli.ts';
import { addNoun, withExamples } from '../help.ts';
import { counted, readableSize } from '../terminal/output.ts';
import type { Column } from '../terminal/output.ts';
import { showProgress } from '../terminal/progress.ts';
import { findRepository } from './find-repository.ts';

/** `hearth lfs check|gc`: objects of Git LFS. */
export function addLfsCommands(program: Command, run: Run): void {
  const lfs = addNoun(program, 'lfs', 'files stored with Git LFS');
  withExamples(
    lfs
      .command('check')
      .description('compare LFS objects with their files; exits with 7 if any are damaged')
      .argument('[owner/name]', 'repository (default: all)')
      .option('--full', 'read and hash the content of every object')
      .option('--fix', 'restore missing content that is still in the trash')
      .action(run(check)),
    'hearth lfs check',
    'hearth lfs check alice/game --full',
  );
  withExamples(
    lfs
      .command('gc')
      .description('list unreferenced objects; with --delete, remove expired ones')
      .argument('[owner/name]', 'repository (default: all)')
      .option(
        '--delete',
        'remove objects that two scans found unreferenced long enough; they stay in the trash for seven days',
      )
      .action(run(gc)),
    'hearth lfs gc',
    'hearth lfs gc alice/game --delete',
  );
}

async function idsOf(modules: Modules, text: string | undefined): Promise<string[] | undefined> {
  return text === undefined ? undefined : [(await findRepository(modules, text)).repository.id];
}

async function check(cli: Cli, { full, fix }: { full?: true; fix?: true }, text?: string): Promise<void> {
  const modules = await cli.openModules();
  const { objects, bytes, faults } = await modules.lfs.gc.check({
    readsAll: full === true,
    restores: fix === true,
    repositoryIds: await idsOf(modules, text),
  });
  const located = await modules.repositories.locate(faults.map(({ repositoryId }) => repositoryId));
  const nameOf = ({ repositoryId }: LfsFault): string => {
    const found = located.get(repositoryId);
    return found === undefined ? repositoryId : `${found.owner.handle}/${found.repository.name}`;
  };
  if (faults.some(({ restored }) => !restored)) cli.exitCode = 7;
  const columns: Column<LfsFault>[] = [
    { title: 'OWNER/NAME', cell: nameOf, whole: true },
    { title: 'OBJECT', cell: ({ oid }) => oid, whole: true },
    { title: 'SIZE', cell: (fault) => ({ bytes: fault.bytes }), align: 'right' },
    { title: 'FAULT', cell: ({ fault, restored }) => (restored ? 'restored' : fault) },
  ];
  cli.output.list(faults, columns, ['fault', 'faults'], (fault) => ({ repository: nameOf(fault), ...fault }));
  cli.output.message(`Checked ${counted(objects, 'object', 'objects')}, ${readableSize(bytes)}.`);
}

async function gc(cli: Cli, options: { delete?: true }, text?: string): Promise<void> {
  const modules = await cli.openModules();
  const removes = options.delete === true;
  if (removes && (await modules.backups.isRunning()))
    throw conflict(
      'backup_under_way',
      'A backup is in progress, so nothing can be removed. Try again when it has finished.',
    );
  const rows: ScannedRepository[] = [];
  const progress = showProgress(cli);
  for await (const row of modules.lfs.gc.scan({ removes, repositoryIds: await idsOf(modules, text) })) {
    progress.step({ done: rows.length, total: rows.length + 1, item: `${row.owner}/${row.name}` });
    rows.push(row);
  }
  progress.end();
  const left = removes && text === undefined ? await modules.lfs.gc.removeOrphans() : null;
  if (rows.some(({ problem }) => problem !== null)) cli.exitCode = 7;
  const columns: Column<ScannedRepository>[] = [
    { title: 'OWNER/NAME', cell: ({ owner, name }) => `${owner}/${name}`, whole: true },
    { title: 'OBJECTS', cell: ({ objects }) => objects, align: 'right' },
    { title: 'UNREFERENCED', cell: ({ unreferenced }) => unreferenced.objects, align: 'right' },
    { title: 'SIZE', cell: ({ unreferenced }) => ({ bytes: unreferenced.bytes }), align: 'right' },
    { title: removes ? 'REMOVED' : 'DUE', cell: ({ due }) => due.objects, align: 'right' },
    { title: 'RESULT', cell: ({ problem }) => problem ?? 'ok' },
  ];
  cli.output.list(rows, columns, ['repository', 'repositories'], (row) => row);
  const due = rows.reduce((sum, row) => sum + row.due.bytes, 0);
  if (removes) {
    cli.output.message(`Removed ${readableSize(due)}; it stays in the trash for seven days.`);
    if (left !== null && left.objects + left.trashed > 0)
      cli.output.message(`Removed ${counted(left.objects + left.trashed, 'file', 'files')} without references.`);
  } else if (due > 0) cli.output.message(`${readableSize(due)} would be removed: hearth lfs gc --delete`);
}
