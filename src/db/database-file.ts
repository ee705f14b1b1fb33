/**
 * Operations on whole database files: copies, and statements on a file that no server has open. For backups, restores
 * and migration dry runs; not for the connections of a server.
 */
import path from 'node:path';
import { backup, DatabaseSync } from 'node:sqlite';
import type { ThreadRow, ThreadStatement } from './thread-protocol.ts';
import { openDatabaseThread } from './database-thread.ts';

/** Long enough to check a very large file. */
const limits = { requestMs: 6 * 3_600_000, queue: 16 };
/** All pages in one step: a copy in several steps restarts after every write in between. */
const pagesPerStep = 1_000_000_000;

/** The path of an instance's database. */
export function databaseFileIn(dataDir: string): string {
  return path.join(dataDir, 'hearth.db');
}

/**
 * Copies a database while others read and write it: the copy is a consistent snapshot in one file without a write-ahead
 * log. Runs in the thread pool.
 * @param to must not exist
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
 * Runs statements on a database file that no server has open, in one transaction in a worker thread.
 * @param setUp statements before it, outside the transaction; they open the file for writing
 * @param attached further files, by their schema names in the statements
 */
export async function askDatabaseFile(
  file: string,
  statements: ThreadStatement[],
  { setUp, attached = {} }: { setUp?: readonly string[]; attached?: Readonly<Record<string, string>> } = {},
): Promise<ThreadRow[][]> {
  const thread = openDatabaseThread({ file, readOnly: setUp === undefined, attached, setUp: setUp ?? [] }, limits);
  try {
    return await thread.run(statements.length === 0 ? [{ sql: 'SELECT 1', parameters: [] }] : statements);
  } finally {
    await thread.close();
  }
}

/** The result of checking a database file. */
interface DatabaseHealth {
  /** Messages of SQLite's integrity check; empty if the file is intact. */
  damage: string[];
  /** Rows whose parent is missing, by table. */
  orphans: Record<string, number>;
  /** Row counts by table. */
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
