import { refusePostgres } from '../refuse-postgres.ts';
import { existsSync } from 'node:fs';
import { rename, rm } from 'node:fs/promises';
import path from 'node:path';
import type { Command } from 'commander';
import { conflict, internal, invalid, unavailable } from '../../kernel/index.ts';
import type { Action, Run } from '../action.ts';
import type { Cli } from '../cli.ts';
import { addNoun, withExamples } from '../help.ts';
import type { Column } from '../terminal/output.ts';
import { withHint } from '../report-error.ts';
import { runNamed } from './cron.ts';

/** `hearth db copy` and `hearth reindex`: the database, and its derived data. */
export function addDatabaseCommands(program: Command, run: Run): void {
  const db = addNoun(program, 'db', 'the database');
  withExamples(
    db
      .command('copy')
      .description('copy the database to a file while the server runs, or into an empty PostgreSQL database')
      .requiredOption('--to <where>', 'new file, or postgres://…')
      .option('--from <address>', 'PostgreSQL database to copy from, instead of the configured one')
      .option('--snapshot', 'copy into PostgreSQL while the server runs, for a trial')
      .action(run(copy)),
    'hearth db copy --to /mnt/disk/hearth.db',
    'hearth db copy --to postgres://hearth@db.example.org/hearth',
    'hearth db copy --from postgres://hearth@db.example.org/hearth --to hearth.db',
  );
  withExamples(
    program
      .command('reindex')
      .description('rebuild derived data (default: all): search index, code index, languages')
      .option('--search', 'repositories and users')
      .option('--code', 'lines of code')
      .option('--languages', 'languages of repositories')
      .action(run(reindex)),
    'hearth reindex',
    'hearth reindex --search',
  );
}

interface Counted {
  name: string;
  rows: number;
}

const countColumns: Column<Counted>[] = [
  { title: 'TABLE', cell: ({ name }) => name, whole: true },
  { title: 'ROWS', cell: ({ rows }) => rows, align: 'right' },
];

const isPostgres = (address: string): boolean => /^postgres(?:ql)?:\/\//i.test(address);

interface CopyFlags {
  to: string;
  from?: string;
  snapshot?: boolean;
}

/** From SQLite to PostgreSQL, while no server writes. */
async function copyIntoPostgres(cli: Cli, { to, snapshot }: CopyFlags): Promise<void> {
  const { config } = await cli.loadConfig();
  refusePostgres(config, 'Unset database.url for this command. It copies the SQLite file in the data folder.');
  const [{ databaseFile, schemaOfProgram }, { copyToPostgres }, { dropPrivilegesToOwnerOf, requireDataDir }, lock] =
    await Promise.all([
      import('../../app/index.ts'),
      import('../../db/index.ts'),
      import('../data-dir.ts'),
      import('../serving/instance-lock.ts'),
    ]);
  requireDataDir(config.dataDir, databaseFile(config), 'the settings');
  dropPrivilegesToOwnerOf(config.dataDir, cli.process);
  const held =
    snapshot === true
      ? null
      : lock.takeInstanceLock(config.dataDir, {
          hint: 'stop it first, or copy a snapshot for a trial: --snapshot',
        });
  try {
    const logger = await cli.logger();
    const copied = await copyToPostgres({
      url: to,
      file: databaseFile(config),
      ...schemaOfProgram,
      clock: cli.clock,
      logger,
    });
    showTables(cli, copied);
    cli.output.message(
      'Database copied. Set database.url (SERVICE_DATABASE_URL) to this address and start the server.',
    );
  } finally {
    held?.release();
  }
}

function showTables(cli: Cli, copied: readonly { name: string; rows: number; sha256?: string }[]): void {
  const filled = copied.filter(({ rows }) => rows > 0);
  cli.output.list(filled, countColumns, ['table', 'tables'], (row) => row);
}

const copy: Action<CopyFlags, []> = async (cli, flags) => {
  const { to, from } = flags;
  if (isPostgres(to)) {
    if (from !== undefined) throw invalid('usage', '--from requires a file as the target.');
    return copyIntoPostgres(cli, flags);
  }
  if (/^[a-z][a-z0-9+]+:\/\//i.test(to))
    throw withHint(
      invalid('usage', '--to must be a file, or an address that starts with postgres://.'),
      'hearth db copy --to hearth.db',
    );
  if (from !== undefined && !isPostgres(from))
    throw invalid('usage', '--from must be an address that starts with postgres://.');
  const target = path.resolve(cli.process.cwd(), to);
  if (existsSync(target)) throw conflict('file_exists', `${target} already exists.`);
  if (!existsSync(path.dirname(target))) throw invalid('usage', `The folder ${path.dirname(target)} does not exist.`);
  const { config } = await cli.loadConfig();
  const url = from ?? config.database.url;
  const [
    { databaseFile, schemaOfProgram, signOfInstance },
    { copyDatabase, copyToSqlite, checkDatabaseFile },
    folders,
  ] = await Promise.all([import('../../app/index.ts'), import('../../db/index.ts'), import('../data-dir.ts')]);
  if (from === undefined) folders.requireDataDir(config.dataDir, signOfInstance(config), 'the settings');
  folders.dropPrivilegesToOwnerOf(config.dataDir, cli.process);
  const unfinished = `${target}.unfinished`;
  try {
    const { migrations } = schemaOfProgram;
    if (url !== null)
      await copyToSqlite({ url, file: unfinished, migrations, clock: cli.clock, logger: await cli.logger() });
    else
      await copyDatabase(databaseFile(config), unfinished).catch((cause: unknown) => {
        throw unavailable('database_not_copied', `The database could not be copied to ${target}.`, { cause });
      });
    const { rows, damage } = await checkDatabaseFile(unfinished);
    if (damage[0] !== undefined) throw internal(`the copy is damaged: ${damage[0]}`);
    await rename(unfinished, target);
    const counts = Object.entries(rows).map(([name, count]): Counted => ({ name, rows: count }));
    cli.output.list(counts, countColumns, ['table', 'tables'], (row) => row);
    cli.output.message(`Database copied to ${target}. To also save repositories and images, use: hearth backup create`);
  } finally {
    for (const ending of ['', '-wal', '-shm', '-journal']) await rm(unfinished + ending, { force: true });
  }
};

interface Rebuilt {
  index: string;
  rows: number;
}

const rebuiltColumns: Column<Rebuilt>[] = [
  { title: 'INDEX', cell: ({ index }) => index, whole: true },
  { title: 'ROWS', cell: ({ rows }) => rows, align: 'right' },
];

const reindex: Action<{ search?: true; code?: true; languages?: true }, []> = async (cli, wanted) => {
  const isAll = !wanted.search && !wanted.code && !wanted.languages;
  const { search, codeSearch, repositories } = await cli.openModules();
  const rebuilt: Rebuilt[] = [];
  if (isAll || wanted.search) rebuilt.push({ index: 'search', rows: await search.reindex() });
  if (isAll || wanted.languages)
    rebuilt.push({ index: 'languages', rows: await repositories.statistics.recountLanguages() });
  if (wanted.code && !codeSearch.isOn)
    throw conflict('code_search_off', 'The code index is disabled: search.code_index_budget is 0.');
  if (codeSearch.isOn && (isAll || wanted.code)) {
    rebuilt.push({ index: 'code', rows: await codeSearch.forget() });
    const { error } = await runNamed(cli, 'code-search.update');
    if (error !== null) throw internal(`The code index could not be built: ${error}`);
  }
  cli.output.list(rebuilt, rebuiltColumns, ['index', 'indexes'], (row) => row);
};
