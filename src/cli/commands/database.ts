import { existsSync } from 'node:fs';
import { rename, rm } from 'node:fs/promises';
import path from 'node:path';
import type { Command } from 'commander';
import { conflict, internal, invalid, unavailable } from '../../kernel/index.ts';
import type { Action, Run } from '../action.ts';
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
      .description('copy a consistent snapshot of the database to a file; the server may be running')
      .requiredOption('--to <file>', 'where to; must not be there yet')
      .action(run(copy)),
    'hearth db copy --to /mnt/disk/hearth.db',
  );
  withExamples(
    program
      .command('reindex')
      .description('rebuild derived data: search index, code index, languages; all of it by default')
      .option('--search', 'repositories and people')
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

const copy: Action<{ to: string }, []> = async (cli, { to }) => {
  if (/^[a-z][a-z0-9+]+:\/\//i.test(to)) {
    throw withHint(
      invalid('usage', 'This Hearth keeps its rows in SQLite only: --to takes a file.'),
      'hearth db copy --to hearth.db',
    );
  }
  const target = path.resolve(cli.process.cwd(), to);
  if (existsSync(target)) throw conflict('file_exists', `${target} is there already.`);
  if (!existsSync(path.dirname(target))) throw invalid('usage', `There is no folder ${path.dirname(target)}.`);
  const { config } = await cli.loadConfig();
  const [{ databaseFile }, { copyDatabase, checkDatabaseFile }, { dropPrivilegesToOwnerOf, requireDataDir }] =
    await Promise.all([import('../../app/index.ts'), import('../../db/index.ts'), import('../data-dir.ts')]);
  requireDataDir(config.dataDir, databaseFile(config), 'the settings');
  dropPrivilegesToOwnerOf(config.dataDir, cli.process);
  const unfinished = `${target}.unfinished`;
  try {
    await copyDatabase(databaseFile(config), unfinished).catch((cause: unknown) => {
      throw unavailable('database_not_copied', `The database could not be copied to ${target}.`, { cause });
    });
    const { rows, damage } = await checkDatabaseFile(unfinished);
    if (damage[0] !== undefined) throw internal(`the copy is damaged: ${damage[0]}`);
    await rename(unfinished, target);
    const counts = Object.entries(rows).map(([name, count]): Counted => ({ name, rows: count }));
    cli.output.list(counts, countColumns, ['table', 'tables'], (row) => row);
    cli.output.message(`Copied to ${target}. A backup has repositories and images, too: hearth backup create`);
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
    throw conflict('code_search_off', 'There is no index of code: search.code_index_budget is 0.');
  if (codeSearch.isOn && (isAll || wanted.code)) {
    rebuilt.push({ index: 'code', rows: await codeSearch.forget() });
    const { error } = await runNamed(cli, 'code-search.update');
    if (error !== null) throw internal(`the index of code could not be made: ${error}`);
  }
  cli.output.list(rebuilt, rebuiltColumns, ['index', 'indexes'], (row) => row);
};
