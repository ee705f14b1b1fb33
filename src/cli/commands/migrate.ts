import { existsSync } from 'node:fs';
import type { Command } from 'commander';
import type { Cli } from '../cli.ts';
import { withExamples } from '../help.ts';
import { isoOrNull } from '../terminal/output.ts';
import type { Column } from '../terminal/output.ts';
import type { Run } from '../action.ts';

interface Options {
  status?: true;
  dryRun?: true;
  rehearse?: true;
}

interface Step {
  version: number;
  name: string;
  state: 'applied' | 'pending';
  appliedAt: number | null;
}

/** `hearth migrate`: migrates the database to this program's schema. */
export function addMigrateCommand(program: Command, run: Run): void {
  withExamples(
    program
      .command('migrate')
      .description('apply pending migrations; the server also does this at startup')
      .option('--status', 'only list applied and pending migrations')
      .option('--dry-run', 'only list migrations that would be applied')
      .option(
        '--rehearse',
        'apply them to a copy, test that the program starts with it, and print the time and disk space needed',
      )
      .action(run(migrate)),
    'hearth migrate --status',
    'hearth migrate --dry-run',
    'hearth migrate --rehearse',
  );
}

const columns: Column<Step>[] = [
  { title: 'VERSION', cell: (step) => `V${step.version}` },
  { title: 'NAME', cell: (step) => step.name },
  { title: 'STATE', cell: (step) => step.state },
  {
    title: 'APPLIED AT',
    cell: (step) => ({ epochMs: step.appliedAt, otherwise: step.state === 'applied' ? 'not noted then' : '' }),
  },
];

async function migrate(cli: Cli, { status, dryRun, rehearse }: Options): Promise<void> {
  if (rehearse) return (await import('./migration-dry-run.ts')).dryRunMigrations(cli);
  const { config } = await cli.loadConfig();
  const [
    { databaseFile, openDatabase, signOfInstance },
    { dropPrivilegesToOwnerOf, prepareDataDir, requireDataDir },
    { takeInstanceLock },
  ] = await Promise.all([
    import('../../app/index.ts'),
    import('../data-dir.ts'),
    import('../serving/instance-lock.ts'),
  ]);
  const looksOnly = status === true || dryRun === true;
  dropPrivilegesToOwnerOf(config.dataDir, cli.process);
  if (looksOnly) requireDataDir(config.dataDir, signOfInstance(config), 'the settings');
  else prepareDataDir(config.dataDir, cli.process);

  // No two processes may migrate at once, nor may one migrate while a server is running.
  const lock = looksOnly ? null : takeInstanceLock(config.dataDir);
  try {
    const isNew = !existsSync(databaseFile(config));
    const db = await openDatabase(config, { logger: await cli.logger(), clock: cli.clock }, 'never');
    try {
      const steps = looksOnly ? await db.schema() : await db.migrate();
      const rows = dryRun ? steps.filter((step) => step.state === 'pending') : steps;
      if (rows.length === 0) cli.output.message('The database is up to date.');
      else if (dryRun) cli.output.message('Would apply:');
      else if (!status) cli.output.message(isNew ? `Created the database in ${config.dataDir}.` : 'Applied:');
      const toJson = ({ version, name, state, appliedAt }: Step): object => ({
        version,
        name,
        state,
        appliedAt: isoOrNull(appliedAt),
      });
      if (rows.length > 0 || cli.output.json) cli.output.list(rows, columns, ['step', 'steps'], toJson);
    } finally {
      await db.close();
    }
  } finally {
    lock?.release();
  }
}
