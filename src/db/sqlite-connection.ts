import { DatabaseSync } from 'node:sqlite';
import { announceStatement } from './statement-channel.ts';

/**
 * Adapts Node's SQLite to the interface of the package `better-sqlite3`, which TypeORM's driver of that name expects as
 * its `driver` option. Used for the read connection; the write connection talks to a worker (`writer-connection.ts`).
 */
export class SqliteConnection {
  readonly #database: DatabaseSync;

  constructor(file: string, options: { readonly?: boolean } = {}) {
    this.#database = new DatabaseSync(file, {
      readOnly: options.readonly ?? false,
      // Synchronous on the main thread: a long wait here would block every request.
      timeout: 250,
    });
    applySettings(this.#database, connectionSettings);
  }

  prepare(sql: string) {
    announceStatement(sql);
    const statement = this.#database.prepare(sql);
    return {
      reader: statement.columns().length > 0,
      all: (...parameters: never[]) => statement.all(...parameters),
      run: (...parameters: never[]) => statement.run(...parameters),
    };
  }

  pragma(text: string): unknown[] {
    return this.#database.prepare(`PRAGMA ${text}`).all();
  }

  exec(sql: string): void {
    this.#database.exec(sql);
  }

  close(): void {
    this.#database.close();
  }
}

/** A pragma, its value, and SQLite's result once it is in effect. */
export type Setting = readonly [name: string, value: string, readsBack: unknown];

/** Settings of every connection; they are not stored in the file. */
export const connectionSettings: readonly Setting[] = [
  ['foreign_keys', 'ON', 1],
  ['trusted_schema', 'OFF', 0],
  ['cell_size_check', 'ON', 1],
  ['temp_store', 'MEMORY', 2],
];

/** SQLite silently ignores a setting that it cannot apply, and guarantees depend on these, so each is read back. */
export function applySettings(database: DatabaseSync, settings: readonly Setting[]): void {
  for (const [name, value, readsBack] of settings) {
    database.prepare(`PRAGMA ${name} = ${value}`).all();
    const row = database.prepare(`PRAGMA ${name}`).get() as Record<string, unknown>;
    const actual = Object.values(row)[0];
    if (actual !== readsBack) throw new Error(`SQLite keeps ${name} at ${String(actual)} instead of ${value}`);
  }
}
