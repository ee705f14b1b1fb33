import { existsSync } from 'node:fs';
import { rename, rm } from 'node:fs/promises';
import path from 'node:path';
import type { Command } from 'commander';
import type { Config } from '../../config/index.ts';
import { conflict, invalid, unavailable } from '../../kernel/index.ts';
import type { Run } from '../action.ts';
import type { Cli } from '../cli.ts';
import { withExamples } from '../help.ts';
import { withHint } from '../report-error.ts';
import { counted } from '../terminal/output.ts';
import type { Column } from '../terminal/output.ts';
import { absoluteTime } from '../terminal/times.ts';

/** `hearth recover`: an instance whose machine is lost, from a copy of its rows and its bucket. */
export function addRecoverCommand(program: Command, run: Run): void {
  withExamples(
    program
      .command('recover')
      .description('update a copy of the database from the object store; all servers must be stopped')
      .option('--from-store', 'read the journal of the repositories in the object store')
      .option('--drill', 'test the recovery in a temporary folder, also while the server runs; changes nothing else')
      .option('--database <file>', 'copy of hearth.db to start from if the data folder has no database')
      .option('--without-key', 'continue without the instance key; all values encrypted with it are lost')
      .option('--dry-run', 'only show what would be done')
      .action(run(recover)),
    'hearth recover --from-store --database /mnt/disk/hearth.db',
    'hearth recover --from-store --dry-run',
    'hearth recover --drill --database /mnt/disk/hearth.db',
  );
}

interface Options {
  fromStore?: true;
  drill?: true;
  database?: string;
  withoutKey?: true;
  dryRun?: true;
}

interface Row {
  repository: string;
  state: 'recovered' | 'broken' | 'left the store' | 'unknown';
  refs: number | null;
}

const columns: Column<Row>[] = [
  { title: 'REPOSITORY', cell: ({ repository }) => repository, whole: true },
  { title: 'STATE', cell: ({ state }) => state, whole: true },
  { title: 'REFS', cell: ({ refs }) => (refs === null ? '' : String(refs)), align: 'right' },
];

async function recover(cli: Cli, options: Options): Promise<void> {
  if (options.drill === true) return drill(cli, options);
  if (options.fromStore !== true)
    throw withHint(invalid('usage', 'Specify what to read: --from-store.'), 'or test it: hearth recover --drill');
  const { config } = await cli.loadConfig();
  const isDry = options.dryRun === true;
  const [{ recoverFromStore }, { dropPrivilegesToOwnerOf, prepareDataDir }, { takeInstanceLock }] = await Promise.all([
    import('../../app/index.ts'),
    import('../data-dir.ts'),
    import('../serving/instance-lock.ts'),
  ]);
  dropPrivilegesToOwnerOf(config.dataDir, cli.process);
  prepareDataDir(config.dataDir, cli.process);
  const key = config.instanceKeyFile;
  if (!existsSync(key) && options.withoutKey !== true)
    throw withHint(
      conflict('no_instance_key', `No instance key found at ${key}.`),
      'copy it to this path, or continue without the values encrypted with it: --without-key',
    );
  const lock = takeInstanceLock(config.dataDir, { hint: 'stop it first' });
  try {
    await requireRows(cli, config, options);
    if (!isDry)
      await cli.confirm('This database takes over the bucket, and the server that used it before stops. Continue?');
    const done = await recoverFromStore(config, { logger: await cli.logger(), clock: cli.clock }, isDry);
    const nameOf = (id: string): string => {
      const name = done.names.get(id.replace(/\.wiki$/, ''));
      return name === undefined ? id : id.endsWith('.wiki') ? `${name} (wiki)` : name;
    };
    const listed: Row[] = [
      ...done.replayed.map(({ repository, refs }): Row => ({ repository, state: 'recovered', refs })),
      ...done.broken.map((repository): Row => ({ repository, state: 'broken', refs: null })),
      ...done.ended.map((repository): Row => ({ repository, state: 'left the store', refs: null })),
      ...done.unknown.map((repository): Row => ({ repository, state: 'unknown', refs: null })),
    ].map((row) => ({ ...row, repository: nameOf(row.repository) }));
    cli.output.list(listed, columns, ['repository', 'repositories'], (row) => row);
    const { missingPacks, rowsUpTo } = done;
    if (done.unknown.length > 0)
      cli.output.message(
        `${counted(done.unknown.length, 'repository was', 'repositories were')} created after the copy, so their names are unknown. Their packs remain in the object store.`,
      );
    if (done.broken.length > 0)
      cli.output.message('Damaged repositories remain as in the copy: their journal has a gap or cannot be read.');
    if (done.ended.length > 0)
      cli.output.message(
        'Repositories that left the store were moved to a folder or deleted. They remain as in the copy.',
      );
    for (const name of missingPacks) cli.output.message(`The object store does not contain ${name}.`);
    if (rowsUpTo !== null)
      cli.output.message(
        `Issues, comments, accounts and all other rows are as of the copy, whose newest push is from ${absoluteTime(rowsUpTo)}.`,
      );
    if (!isDry) cli.output.message('Start the server, then run: hearth doctor');
    if (done.broken.length > 0 || missingPacks.length > 0) cli.exitCode = 7;
  } finally {
    lock.release();
  }
}

/** Throws `no_stored_repositories`, `no_database`. */
async function drill(cli: Cli, { database }: Options): Promise<void> {
  const { recovery } = await cli.openModules();
  if (recovery === null)
    throw withHint(
      conflict(
        'no_stored_repositories',
        'No repositories are in the object store, so it contains nothing to recover from.',
      ),
      'hearth backup drill tries a backup',
    );
  const file = database === undefined ? undefined : path.resolve(cli.process.cwd(), database);
  if (file !== undefined && !existsSync(file)) throw invalid('no_database', `No database found at ${file}.`);
  const done = await recovery.run({ ...(file === undefined ? {} : { database: file }), isWhole: true });
  for (const fault of done.faults) cli.output.message(`${fault[0]!.toUpperCase()}${fault.slice(1)}.`);
  if (done.faults.length > 0) cli.exitCode = 7;
  cli.output.result(
    `Read ${counted(done.packs, 'pack', 'packs')}; ${done.faults.length === 0 ? 'a recovery would succeed' : counted(done.faults.length, 'fault', 'faults')}.`,
    done,
  );
}

/** The rows have to be there and whole. Throws `database_damaged`, `no_database`, `file_exists`. */
async function requireRows(cli: Cli, config: Config, { database, dryRun }: Options): Promise<void> {
  if (config.database.url !== null) {
    if (database !== undefined)
      throw invalid('usage', '--database requires SQLite, but this instance uses PostgreSQL.');
    return;
  }
  const [{ databaseFile }, { checkDatabaseFile, copyDatabase }] = await Promise.all([
    import('../../app/index.ts'),
    import('../../db/index.ts'),
  ]);
  const target = databaseFile(config);
  const given = database === undefined ? target : path.resolve(cli.process.cwd(), database);
  if (!existsSync(given))
    throw withHint(
      invalid('no_database', `No database found at ${given}.`),
      'specify a copy of hearth.db: --database FILE',
    );
  if (given !== target && existsSync(target))
    throw withHint(conflict('file_exists', `${target} already exists.`), 'move it away first');
  if (given !== target && dryRun === true)
    throw invalid('usage', '--dry-run reads the database in the data folder. Copy the file there first.');
  const { damage, orphans } = await checkDatabaseFile(given).catch((cause: unknown) => {
    throw unavailable('database_damaged', `${given} is not a readable database.`, { cause });
  });
  const [table] = Object.keys(orphans);
  if (damage[0] !== undefined || table !== undefined)
    throw unavailable(
      'database_damaged',
      `${given} is damaged: ${damage[0] ?? `rows of ${table} refer to missing ones`}. Use another copy.`,
    );
  if (given === target) return;
  const unfinished = `${target}.unfinished`;
  try {
    await copyDatabase(given, unfinished);
    await rename(unfinished, target);
  } finally {
    await rm(unfinished, { force: true });
  }
}
