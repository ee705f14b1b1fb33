import path from 'node:path';
import type { Command } from 'commander';
import type { VerificationResult, CreatedBackup, ListedBackup } from '../../backup/index.ts';
import { invalid } from '../../kernel/index.ts';
import type { Run } from '../action.ts';
import type { Cli } from '../cli.ts';
import { addNoun, withExamples } from '../help.ts';
import { counted, isoOrNull, never, readableSize } from '../terminal/output.ts';
import type { Column } from '../terminal/output.ts';
import { showProgress } from '../terminal/progress.ts';
import { addRestoreCommand } from './restore.ts';

/** `hearth backup …`, and `hearth restore`. */
export function addBackupCommands(program: Command, run: Run): void {
  const backup = addNoun(program, 'backup', 'backups and restore tests');
  withExamples(
    backup
      .command('create')
      .alias('add')
      .description('back up the whole instance; the server may be running')
      .option(
        '--to <folder>',
        'write it to another folder than the configured one; with --tar also - for standard output',
      )
      .option('--tar', 'write a single tar file or stream')
      .option('--with-keys', 'include private keys of federation actors and the key of CI secrets')
      .action(run(create)),
    'hearth backup create',
    'hearth backup create --to /mnt/disk --with-keys',
    'hearth backup create --tar --to - | ssh nas.example.org "cat > hearth.tar"',
  );
  withExamples(backup.command('list').description('list backups').action(run(list)), 'hearth backup list --json');
  withExamples(
    backup
      .command('verify')
      .description('verify a backup')
      .argument('<name>', 'backup')
      .option('--all', 'verify every repository instead of a sample of fifty')
      .action(run(verify)),
    'hearth backup verify 2026-11-20T03-30-00Z',
  );
  withExamples(
    backup
      .command('drill')
      .alias('test-restore')
      .description('test a backup by restoring it into a temporary folder')
      .argument('[name]', 'backup (default: the newest)')
      .action(run(drill)),
    'hearth backup drill',
  );
  withExamples(
    backup
      .command('prune')
      .description('remove old backups')
      .option('--keep-daily <days>', 'number of days to keep the newest backup of', '7')
      .option('--keep-weekly <weeks>', 'number of weeks to keep the newest backup of', '4')
      .option('--keep-monthly <months>', 'number of months to keep the newest backup of', '6')
      .option('--dry-run', 'only list the backups that would be removed')
      .action(run(prune)),
    'hearth backup prune --keep-daily 14',
  );
  addRestoreCommand(program, run);
}

interface CreateOptions {
  to?: string;
  withKeys?: true;
  tar?: true;
}

async function create(cli: Cli, { to, withKeys, tar }: CreateOptions): Promise<void> {
  if (tar)
    return (await import('./backup-tar.ts')).createTar(cli, {
      to,
      withKeys: withKeys === true,
      warn: (made) => warnOf(cli, made),
    });
  const { backups } = await cli.openModules();
  const progress = showProgress(cli);
  const made = await backups
    .create({
      ...(to === undefined ? {} : { to: path.resolve(cli.process.cwd(), to) }),
      withKeys: withKeys === true,
      onProgress: progress.step,
    })
    .finally(progress.end);
  warnOf(cli, made);
  const seconds = (made.tookMs / 1000).toFixed(1);
  cli.output.result(
    `${made.folder}\t${counted(made.repositories, 'repository', 'repositories')}, ${readableSize(made.bytes)}, ${seconds} s`,
    made,
  );
}

/** Reports at creation what a backup does not contain. */
function warnOf(cli: Cli, { missing, damaged, objects }: CreatedBackup): void {
  const { output } = cli;
  // The backup is complete, but these repositories cannot be fully restored from it.
  if (damaged.length > 0) cli.exitCode = 7;
  for (const { folder, problem } of damaged)
    output.message(`warning: ${folder} is damaged: ${problem}; keep earlier backups and run hearth doctor`);
  if (missing.length > 0)
    output.message(
      `warning: ${missing.length} repositories are in the database, but have no folder: run hearth doctor`,
    );
  if (objects === null) return;
  const what = `${counted(objects.count, 'object', 'objects')} (${readableSize(objects.bytes)})`;
  output.message(`Not in this backup: ${what} in ${objects.at}. Back up the bucket separately: docs/object-store.md`);
}

const columns: Column<ListedBackup>[] = [
  { title: 'NAME', cell: (row) => row.name, whole: true },
  { title: 'MADE', cell: (row) => never(row.madeAt) },
  { title: 'VERSION', cell: (row) => `${row.version} V${row.schema}` },
  { title: 'SIZE', cell: (row) => ({ bytes: row.bytes }), align: 'right' },
  { title: 'REPOS', cell: (row) => row.repositories, align: 'right' },
  {
    title: 'VERIFIED',
    cell: ({ verified }) =>
      verified !== null && verified.problems.length > 0
        ? 'DAMAGED'
        : never(verified === null ? null : Date.parse(verified.at)),
  },
  {
    title: 'RESTORE TEST',
    cell: (row) =>
      row.proof === null
        ? 'not yet'
        : row.proof.problems.length > 0
          ? 'DAMAGED'
          : `${row.proof.proven} of ${row.proof.total}`,
  },
];

const toJson = ({ madeAt, ...row }: ListedBackup): object => ({ ...row, madeAt: isoOrNull(madeAt) });

async function list(cli: Cli): Promise<void> {
  const { backups } = await cli.openModules();
  cli.output.list(await backups.list(), columns, ['backup', 'backups'], toJson);
}

async function verify(cli: Cli, { all }: { all?: true }, name: string): Promise<void> {
  const { backups } = await cli.openModules();
  const progress = showProgress(cli);
  const parts = await backups.verify(name, { all: all === true, onProgress: progress.step }).finally(progress.end);
  if (parts.some(({ problems }) => problems.length > 0)) cli.exitCode = 7;
  const result: Column<VerificationResult>[] = [
    { title: 'PART', cell: (row) => row.part },
    { title: 'LOOKED AT', cell: (row) => row.looked, align: 'right' },
    { title: 'RESULT', cell: (row) => row.problems[0] ?? 'ok' },
  ];
  cli.output.list(parts, result, ['part', 'parts'], (part) => part);
}

async function drill(cli: Cli, _options: object, name?: string): Promise<void> {
  const { backups } = await cli.openModules();
  const progress = showProgress(cli);
  const result = await backups.drill(name, progress.step).finally(progress.end);
  if (result.problems.length > 0) cli.exitCode = 7;
  for (const problem of result.problems) cli.output.message(problem);
  cli.output.result(
    `${result.proven} of ${result.total} repositories restored intact${result.problems.length > 0 ? `; ${result.problems.length} problems` : ''}.`,
    result,
  );
}

async function prune(
  cli: Cli,
  options: { keepDaily: string; keepWeekly: string; keepMonthly: string; dryRun?: true },
): Promise<void> {
  const { backups } = await cli.openModules();
  const rule = {
    daily: count(options.keepDaily),
    weekly: count(options.keepWeekly),
    monthly: count(options.keepMonthly),
  };
  if (options.dryRun !== true) {
    const { removed } = await backups.prune(rule, { dryRun: true });
    if (removed.length > 0) await cli.confirm(`Remove ${counted(removed.length, 'backup', 'backups')}?`);
  }
  const { removed, kept } = await backups.prune(rule, { dryRun: options.dryRun === true });
  const verb = options.dryRun ? 'Would remove' : 'Removed';
  const names = removed.map(({ name }) => `  ${name}\n`).join('');
  cli.output.print(`${verb} ${removed.length}, kept ${kept.length}.\n${names}`, {
    removed: removed.map(toJson),
    kept: kept.map(toJson),
  });
}

function count(text: string): number {
  if (!/^\d{1,5}$/.test(text)) throw invalid('usage', `${JSON.stringify(text)} is not a number of backups.`);
  return Number(text);
}
