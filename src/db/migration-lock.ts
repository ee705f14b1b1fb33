import { mkdirSync } from 'node:fs';
import path from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { setTimeout as sleep } from 'node:timers/promises';
import { databaseLocked } from './constraint-errors.ts';

const pollMs = 50;
/** Longer than any measured upgrade. */
const limitMs = 10 * 60_000;

/**
 * Runs work while no other process changes the schema of a database file. Uses a lock on a separate SQLite file, which
 * the system releases when the process ends; the database's own lock does not work, because each step is a separate
 * transaction. Throws `database_locked` if the other process takes too long.
 */
export async function whileNobodyMigrates<Result>(file: string, work: () => Promise<Result>): Promise<Result> {
  const folder = path.join(path.dirname(file), 'run');
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const lock = new DatabaseSync(path.join(folder, `${path.basename(file)}.migrating`), { timeout: 0 });
  try {
    for (const endAt = performance.now() + limitMs; !isTaken(lock); await sleep(pollMs))
      if (performance.now() > endAt) throw databaseLocked();
    return await work();
  } finally {
    lock.close();
  }
}

function isTaken(lock: DatabaseSync): boolean {
  try {
    lock.exec('BEGIN EXCLUSIVE');
    return true;
  } catch (error) {
    if (/locked|busy/i.test((error as Error).message)) return false;
    throw error;
  }
}
