/**
 * Whole files of databases: copies, and questions to a file that nobody serves.
 * For backups, restores and rehearsals; the two doors know nothing of these.
 */
import path from 'node:path';
import { backup, DatabaseSync } from 'node:sqlite';
import type { ThreadRow, ThreadStatement } from './thread-protocol.ts';
import { openDatabaseThread } from './database-thread.ts';

/** Long enough for a check of a very large file. */
const limits = { requestMs: 6 * 3_600_000, queue: 16 };
/** All pages in one step: a copy in several begins anew with every write that comes between. */
const pagesPerStep = 1_000_000_000;

/** Where the database of an instance lies. */
export function databaseFileIn(dataDir: string): string {
  return path.join(dataDir, 'hearth.db');
}

/**
 * Copies a database while others read and write it: the copy is one moment of it, in
 * one file without a write-ahead log. Runs in the thread pool.
 * @param to must not be there yet
 */
export async function copyDatabase(from: string, to: string): Promise<void> {
  const source = new DatabaseSync(from, { readOnly: true, timeout: 5_000 });
  try {
    await backup(source, to, { rate: pagesPerStep });
  } finally {
    source.close();
  }
  await askDatabaseFile(to, [], { setUp: ['PRAGMA journal_mode = DELETE'] });
}

/**
 * Asks, or changes, a database file that no server has open, in a thread of its own.
 * The statements are one transaction.
 * @param setUp statements before it, outside the transaction; with them the file is opened for writing
 * @param attached further files, by the name that statements call them
 */
export async function askDatabaseFile(
  file: string,
  statements: ThreadStatement[],
  { setUp, attached = {} }: { setUp?: readonly string[]; attached?: Readonly<Record<string, string>> } = {},
): Promise<ThreadRow[][]> {
  const thread = openDatabaseThread({ file, readOnly: setUp === undefined, attached, setUp: setUp ?? [] }, limits);
  try {
    return await thread.ask(statements.length === 0 ? [{ sql: 'SELECT 1', parameters: [] }] : statements);
  } finally {
    await thread.close();
  }
}

/** What a database file says of its own health. */
export interface DatabaseHealth {
  /** Sentences of SQLite's own check; none when all is well. */
  damage: string[];
  /** Rows whose parent is missing, by table. */
  orphans: Record<string, number>;
  /** Rows by table. */
  rows: Record<string, number>;
}

const plain = (sql: string): ThreadStatement => ({ sql, parameters: [] });

/** Reads every page and every row of a database file. */
export async function checkDatabaseFile(file: string): Promise<DatabaseHealth> {
  const [integrity = [], foreign = [], tables = []] = await askDatabaseFile(file, [
    plain('PRAGMA integrity_check(20)'),
    plain('PRAGMA foreign_key_check'),
    plain("SELECT name FROM sqlite_master WHERE type = 'table' AND sql NOT LIKE 'CREATE VIRTUAL%' ORDER BY name"),
  ]);
  const names = tables.map(({ name }) => String(name));
  const counts = await askDatabaseFile(
    file,
    names.map((name) => plain(`SELECT count(*) AS n FROM "${name}"`)),
  );
  const orphans: Record<string, number> = {};
  for (const { table } of foreign) orphans[String(table)] = (orphans[String(table)] ?? 0) + 1;
  return {
    damage: integrity.map((row) => String(Object.values(row)[0])).filter((text) => text !== 'ok'),
    orphans,
    rows: Object.fromEntries(names.map((name, at) => [name, Number(counts[at]?.[0]?.['n'] ?? 0)])),
  };
}
