import { AsyncLocalStorage } from 'node:async_hooks';
import { existsSync, mkdirSync } from 'node:fs';
import path from 'node:path';
import { DataSource } from 'typeorm';
import type { EntityManager, EntitySchema } from 'typeorm';
import { DomainError, internal, isDomainError } from '../kernel/index.ts';
import type { Clock, Logger } from '../kernel/index.ts';
import { isStorageFault, translateFault } from './constraint-errors.ts';
import { migrationClasses, schemaSteps } from './migrations.ts';
import type { Migration, SchemaStep } from './migrations.ts';
import { SqliteConnection } from './sqlite-connection.ts';
import { WriterConnection } from './writer-connection.ts';
import { queryThroughWriter } from './writer-query-runner.ts';

/** What a write hands to its function. */
export interface Tx {
  manager: EntityManager;
  /** One time for all rows of the write, milliseconds since the epoch. */
  now: number;
}

/** The two doors of DESIGN §4. Nothing else in the house reaches the database. */
export interface Database {
  /** Read-only; sees committed rows and never waits for a write. */
  readonly read: EntityManager;
  /**
   * Runs `fn` in a transaction of its own, one at a time for the whole process:
   * on a shared connection one request's rollback would take another's
   * acknowledged rows with it. Nothing slow belongs inside `fn`.
   * A failing `fn` changes nothing. A write inside a write throws.
   */
  write<T>(fn: (tx: Tx) => Promise<T>): Promise<T>;
  schema(): Promise<SchemaStep[]>;
  /** Takes a snapshot of a database that has rows, then applies what is pending. */
  migrate(): Promise<SchemaStep[]>;
  close(): Promise<void>;
}

export interface DatabaseOptions {
  /** The SQLite file; made when missing. */
  file: string;
  entities: readonly EntitySchema<never>[];
  migrations: readonly Migration[];
  clock: Clock;
  logger: Logger;
  /** Where copies from before a migration are kept. */
  snapshotDirectory: string;
  /**
   * `always` applies pending migrations now; `when-new` only to a database that
   * did not exist; `never` leaves the schema to the caller.
   */
  migrate: 'always' | 'when-new' | 'never';
  /** Called once when storage fails in a way that makes going on unsafe. */
  onStorageFault?: (error: unknown) => void;
}

const slowWriteMs = 1000;

/**
 * Opens the database.
 * Refuses with `unavailable`: `schema_newer`, `schema_behind` (only when not migrating),
 * `database_locked`, `read_only`.
 */
export async function createDatabase(options: DatabaseOptions): Promise<Database> {
  const { clock, logger } = options;
  const isNew = !existsSync(options.file);
  mkdirSync(path.dirname(options.file), { recursive: true, mode: 0o700 });

  const shared = {
    type: 'better-sqlite3' as const,
    database: options.file,
    entities: [...options.entities],
    statementCacheSize: 300,
  };
  const writer = new DataSource({
    ...shared,
    driver: WriterConnection,
    migrations: migrationClasses(options.migrations),
    migrationsTransactionMode: 'each',
  });
  queryThroughWriter(writer);
  const reader = new DataSource({ ...shared, driver: SqliteConnection, readonly: true });

  const inside = new AsyncLocalStorage<{ open: boolean }>();
  let tail: Promise<unknown> = Promise.resolve();

  async function runWrite<T>(fn: (tx: Tx) => Promise<T>): Promise<T> {
    const mark = { open: true };
    const startedAt = performance.now();
    try {
      return await writer.transaction((manager) =>
        inside.run(mark, () => fn({ manager, now: clock.now() }).finally(() => (mark.open = false))),
      );
    } catch (error) {
      if (isStorageFault(error)) options.onStorageFault?.(error);
      throw translateFault(error);
    } finally {
      mark.open = false;
      const tookMs = Math.round(performance.now() - startedAt);
      if (tookMs > slowWriteMs) logger.warn('db.slow_write', { tookMs });
    }
  }

  async function migrate(): Promise<SchemaStep[]> {
    const before = await schemaSteps(writer, options.migrations);
    const pending = before.filter((step) => step.state === 'pending');
    if (pending.length === 0) return [];
    const newest = before.findLast((step) => step.state === 'applied');
    if (newest !== undefined) {
      const snapshot = path.join(options.snapshotDirectory, `pre-V${pending.at(-1)!.version}-${clock.now()}.db`);
      mkdirSync(options.snapshotDirectory, { recursive: true, mode: 0o700 });
      await writer.query('VACUUM INTO ?', [snapshot]);
      logger.info('db.snapshot', { file: snapshot, schema: newest.version });
    }
    await writer.runMigrations({ transaction: 'each' });
    for (const step of pending) logger.info('db.migrated', { version: step.version, name: step.name });
    return pending.map((step) => ({ ...step, state: 'applied' }));
  }

  const database: Database = {
    get read() {
      // The reader cannot see what the open write has done: reading through it
      // inside a write is always a mistake.
      if (inside.getStore()?.open === true) throw internal('inside a write, read through tx.manager');
      return reader.manager;
    },
    write(fn) {
      // It would wait for the write it is part of, for ever.
      if (inside.getStore()?.open === true) return Promise.reject(internal('a write started inside a write'));
      const result = tail.then(() => runWrite(fn));
      tail = result.then(
        () => {},
        () => {},
      );
      return result;
    },
    schema: () => schemaSteps(writer, options.migrations),
    migrate,
    async close() {
      await tail;
      if (reader.isInitialized) await reader.destroy();
      await (writer.driver as unknown as { databaseConnection: WriterConnection }).databaseConnection.close();
    },
  };

  await openWriter(writer);
  try {
    if (options.migrate === 'always' || (options.migrate === 'when-new' && isNew)) await migrate();
    else if (options.migrate === 'when-new') await refuseSchemaBehind(database);
    await reader.initialize();
  } catch (error) {
    await database.close();
    throw isDomainError(error) ? error : translateFault(error);
  }
  return database;
}

async function openWriter(writer: DataSource): Promise<void> {
  try {
    await writer.initialize();
    await writer.query('SELECT 1 FROM sqlite_master LIMIT 1');
  } catch (error) {
    const fault = translateFault(error);
    if (isDomainError(fault)) throw fault;
    throw new DomainError('unavailable', 'database_unavailable', `The database cannot be opened: ${(error as Error).message}`, {
      cause: error,
    });
  }
}

async function refuseSchemaBehind(database: Database): Promise<void> {
  const pending = (await database.schema()).filter((step) => step.state === 'pending');
  if (pending.length === 0) return;
  throw new DomainError(
    'unavailable',
    'schema_behind',
    `The database needs ${pending.length} migration(s), up to V${pending.at(-1)!.version}. Run: hearth migrate`,
  );
}
