import { DatabaseSync } from 'node:sqlite';

/**
 * Makes Node's own SQLite look like the `better-sqlite3` package, the shape that
 * TypeORM's driver of that name expects of its `driver` option. Used for the
 * read door; the write door talks to a worker (`writer-connection.ts`).
 */
export class SqliteConnection {
  readonly #database: DatabaseSync;

  constructor(file: string, options: { readonly?: boolean } = {}) {
    this.#database = new DatabaseSync(file, {
      readOnly: options.readonly ?? false,
      // Synchronous on the main thread: a long wait here would stop every request.
      timeout: 250,
    });
    for (const pragma of connectionPragmas) this.pragma(pragma);
  }

  prepare(sql: string) {
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

/** Settings that every connection needs anew; they are not stored in the file. */
export const connectionPragmas: readonly string[] = [
  'foreign_keys = ON',
  'trusted_schema = OFF',
  'cell_size_check = ON',
  'temp_store = MEMORY',
];
