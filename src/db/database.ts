import { AsyncLocalStorage } from 'node:async_hooks';
import { existsSync, mkdirSync, renameSync, rmSync } from 'node:fs';
import path from 'node:path';
import { DataSource } from 'typeorm';
import type { EntityManager } from 'typeorm';
import { syncPath } from '../files/index.ts';
import { createHistogram, createKeyedMutex, DomainError, internal, isDomainError } from '../kernel/index.ts';
import { databaseLocked, isStorageFault, translateFault } from './constraint-errors.ts';
import { createRowCache } from './row-cache.ts';
import { migrationClasses, recordApplied, schemaSteps } from './migrations.ts';
import type { SchemaStep } from './migrations.ts';
import { ormLogger } from './orm-logger.ts';
import { SqliteConnection } from './sqlite-connection.ts';
import { WriterConnection } from './writer-connection.ts';
import { askDatabaseFile, copyDatabase } from './database-file.ts';
import type { Database, DatabaseOptions, Tx, WriteOptions } from './database-interface.ts';
import { migrateWhenNew } from './migrate-when-new.ts';
import { whileNobodyMigrates } from './migration-lock.ts';
import { openDatabaseThread } from './database-thread.ts';
import { readUnfinishedUpgrade, removeUnfinishedUpgrade, writeUnfinishedUpgrade } from './unfinished-upgrade.ts';
import type { UnfinishedUpgrade } from './unfinished-upgrade.ts';
import { announceStatement } from './statement-channel.ts';
import { queryThroughWriter } from './writer-query-runner.ts';
import { ReadingSource } from './reading-source.ts';

/**
 * Opens the write connection while the rest of the program is loading: its thread takes about as long to start. The
 * folder of `file` must exist and be private.
 */
export function beginWriting(file: string): WriterConnection {
  return new WriterConnection(file, { timeout: defaultBusyTimeoutMs });
}

const slowWriteMs = 1000;
/** Upper bounds of histogram buckets in seconds. */
const waitBuckets = [0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1, 3];
/** Worker threads yield to the main thread, which every page needs, including the response of a search. */
const threadNiceness = 5;
const defaultBusyTimeoutMs = 5000;

/**
 * Opens the database. Throws `unavailable`: `schema_newer`, `schema_behind` (only when not migrating),
 * `migration_failed`, `database_locked`, `database_unavailable`, `read_only`.
 */
export async function createDatabase(options: DatabaseOptions): Promise<Database> {
  const { clock, logger, postgres } = options;
  if (postgres !== undefined) {
    // Only instances on PostgreSQL load its client.
    const { createPostgresDatabase } = await import('./postgres/postgres-database.ts');
    return createPostgresDatabase({ ...options, postgres, makeFile: (file) => makeSqliteFile(options, file) });
  }
  mkdirSync(path.dirname(options.file), { recursive: true, mode: 0o700 });

  const shared = {
    type: 'better-sqlite3' as const,
    database: options.file,
    entities: [...options.entities],
    statementCacheSize: 300,
    logger: ormLogger(logger),
  };
  // Comes before TypeORM needs it: the thread starts while the rest of the program is loading.
  const connection =
    options.writing ?? new WriterConnection(options.file, { timeout: options.busyTimeoutMs ?? defaultBusyTimeoutMs });
  const writer = new DataSource({
    ...shared,
    driver: function driver() {
      return connection;
    },
    migrations: migrationClasses(options.migrations),
    migrationsTransactionMode: 'each',
  });
  queryThroughWriter(writer, beforeStatement);
  const reader = new ReadingSource({ ...shared, driver: SqliteConnection, readonly: true }, writer);

  const { lookup, state, forget: clearLookups } = createRowCache((sql) => connectionOf(reader).prepare(sql));

  const inside = new AsyncLocalStorage<{ open: boolean; hasChanged: boolean } | null>();
  const lastInWrites: ((tx: Tx) => Promise<void>)[] = [];
  const writing = createKeyedMutex<'connection'>();
  let lockMetAt = 0;
  const writeWaits = createHistogram(waitBuckets);
  /** Resolves when syncing is turned on again after an unsynced write. */
  let syncing: Promise<unknown> = Promise.resolve();

  /** Serialises work on the write connection, outside the async context of any write. */
  const inTurn = <T>(fn: () => Promise<T>): Promise<T> => inside.run(null, () => writing('connection', fn));

  /** A statement that a write did not await would run in another write's transaction. */
  function beforeStatement(sql: string): void {
    const mark = inside.getStore();
    if (mark == null) return;
    if (!mark.open) throw internal('used after its write ended: await everything inside a write');
    mark.hasChanged ||= !/^\s*(?:SELECT|PRAGMA)\b/i.test(sql);
  }

  async function runToTheEnd<T>(fn: (tx: Tx) => Promise<T>, tx: Tx): Promise<T> {
    const result = await fn(tx);
    for (const last of lastInWrites) await last(tx);
    return result;
  }

  /**
   * The read connection does not see the open write's changes: reading through it inside a write is always a mistake.
   */
  function refuseReadingInside(): void {
    if (inside.getStore()?.open === true) throw internal('inside a write, read through tx.manager');
  }

  async function runWrite<T>(fn: (tx: Tx) => Promise<T>, askedAt: number, { durable }: WriteOptions): Promise<T> {
    // Writes that were queued while the lock timed out have also waited for it: timeouts must not add up over the
    // queue.
    if (askedAt < lockMetAt) throw databaseLocked();
    const mark = { open: true, hasChanged: false };
    const tx = (manager: EntityManager): Tx => ({
      manager,
      get before() {
        if (mark.hasChanged || !mark.open) throw internal('this write has changed something: read through tx.manager');
        return reader.manager;
      },
      now: clock.now(),
    });
    const startedAt = performance.now();
    let hasBegun = false;
    const begin = (): void => {
      hasBegun = true;
      writeWaits.observe((performance.now() - askedAt) / 1000);
    };
    try {
      // A failure here leaves syncing off: no write may follow.
      await syncing.catch(() => writer.query('PRAGMA synchronous = FULL'));
      // The log is written in order and synced as a whole, so the next synced write includes this one. The statements
      // are not awaited, because the thread runs them in order.
      if (durable === 'with-the-next') writer.query('PRAGMA synchronous = NORMAL').catch(() => {});
      return await writer.transaction((manager) => {
        begin();
        return inside.run(mark, () => runToTheEnd(fn, tx(manager)).finally(() => (mark.open = false)));
      });
    } catch (error) {
      if (!hasBegun) begin();
      if (isStorageFault(error)) options.onStorageFault?.(error);
      const fault = translateFault(error);
      if (isDomainError(fault) && fault.reason === 'database_locked') lockMetAt = performance.now();
      throw fault;
    } finally {
      mark.open = false;
      clearLookups();
      if (durable === 'with-the-next') {
        syncing = writer.query('PRAGMA synchronous = FULL');
        syncing.catch(() => {});
      }
      const tookMs = Math.round(performance.now() - startedAt);
      if (tookMs > slowWriteMs) logger.warn('db.slow_write', { tookMs });
    }
  }

  async function migrate(): Promise<SchemaStep[]> {
    const before = await schemaSteps(writer, options.migrations);
    const pending = before.filter((step) => step.state === 'pending');
    const applied = before.filter((step) => step.state === 'applied');
    const interrupted = interruptedUpgrade(applied.map(({ version }) => version));
    if (pending.length === 0 && interrupted === null) return [];
    const now = clock.now();
    const newest = applied.at(-1);
    try {
      if (newest !== undefined && interrupted === null) {
        const copy = await writeSnapshot(newest.version, pending.at(-1)!.version);
        const from = applied.map(({ version }) => version);
        writeUnfinishedUpgrade(options.snapshotDirectory, { from, copy });
      }
      if (interrupted !== null) logger.info('db.upgrade_continued', { copy: interrupted.copy });
      await writer.runMigrations({ transaction: 'each' });
      const isNew = ({ version }: SchemaStep): boolean => interrupted?.from.includes(version) === false;
      await recordApplied(writer, [...applied.filter(isNew), ...pending], now);
      removeUnfinishedUpgrade(options.snapshotDirectory);
    } catch (error) {
      throw translateFault(error);
    } finally {
      // Foreign keys are off while a table is rebuilt, and TypeORM leaves them off if a step fails.
      await writer.query('PRAGMA foreign_keys = ON');
    }
    // For a new database, the individual steps are not worth a log line.
    if (newest === undefined) logger.info('db.created', { version: pending.at(-1)!.version });
    else for (const step of pending) logger.info('db.migrated', { version: step.version, name: step.name });
    return pending.map((step) => ({ ...step, state: 'applied', appliedAt: now }));
  }

  const isCurrent = (): Promise<boolean> =>
    inTurn(async () => {
      const steps = await schemaSteps(writer, options.migrations);
      const applied = steps.filter(({ state }) => state === 'applied');
      return applied.length === steps.length && interruptedUpgrade(applied.map(({ version }) => version)) === null;
    });
  const alone = <Result>(work: () => Promise<Result>): Promise<Result> =>
    options.isUnknown === true ? work() : whileNobodyMigrates(options.file, work);

  /**
   * The upgrade during which the program was interrupted. If none of its steps was applied, it starts over with a new
   * copy.
   */
  function interruptedUpgrade(applied: readonly number[]): UnfinishedUpgrade | null {
    const upgrade = readUnfinishedUpgrade(options.snapshotDirectory);
    if (upgrade === null || !existsSync(path.join(options.snapshotDirectory, upgrade.copy))) return null;
    const hasAll = upgrade.from.every((version) => applied.includes(version));
    return hasAll && applied.length > upgrade.from.length ? upgrade : null;
  }

  async function writeSnapshot(from: number, to: number): Promise<string> {
    mkdirSync(options.snapshotDirectory, { recursive: true, mode: 0o700 });
    const file = path.join(options.snapshotDirectory, `V${from}-before-V${to}.db`);
    const unfinished = `${file}.tmp`;
    rmSync(unfinished, { force: true });
    await writer.query('VACUUM INTO ?', [unfinished]);
    await syncPath(unfinished);
    // One file per pair of versions: a migration that fails at every restart must not fill the disk with copies.
    renameSync(unfinished, file);
    await syncPath(options.snapshotDirectory);
    logger.info('db.snapshot', { file, schema: from });
    return path.basename(file);
  }

  const database: Database = {
    dialect: 'sqlite',
    node: options.node ?? null,
    shownAddress: options.file,
    pooler: () => Promise.resolve(null),
    get read() {
      refuseReadingInside();
      return reader.manager;
    },
    get lookup() {
      refuseReadingInside();
      return lookup;
    },
    writeWaits,
    state,
    write(fn, options = {}) {
      // It would deadlock, waiting for the write that it is part of.
      if (inside.getStore()?.open === true) return Promise.reject(internal('a write started inside a write'));
      const askedAt = performance.now();
      return inTurn(() => runWrite(fn, askedAt, options));
    },
    beforeCommit(last) {
      lastInWrites.push(last);
    },
    openThread(limits, attached = {}) {
      const setUp = [`PRAGMA cache_size = -${limits.cacheKiB ?? 16_384}`];
      const thread = openDatabaseThread(
        { file: options.file, readOnly: true, attached, setUp, niceness: threadNiceness },
        limits,
      );
      return {
        ...thread,
        run(statements) {
          for (const { sql } of statements) announceStatement(sql);
          return thread.run(statements);
        },
      };
    },
    exportTo: (file) => copyDatabase(options.file, file),
    // Uses the read connection if there is one: the query must not wait behind a write that waits for a lock.
    schema: () => inside.run(null, () => schemaSteps(reader.isInitialized ? reader : writer, options.migrations)),
    migrate: async () => ((await isCurrent()) ? [] : alone(() => inTurn(migrate))),
    async migrateWhenNew() {
      if (await isCurrent()) return;
      // Another process may be creating this file; the result of that process decides.
      await alone(() => migrateWhenNew({ schema: database.schema, migrate: () => inTurn(migrate) }));
    },
    async close() {
      await writing.settled();
      if (reader.isInitialized) await reader.destroy();
      await connection.close();
    },
  };

  await openWriter(writer);
  try {
    if (options.migrate === 'always') await database.migrate();
    else if (options.migrate === 'when-new') await database.migrateWhenNew();
    await reader.initialize();
  } catch (error) {
    await database.close();
    throw translateFault(error);
  }
  return database;
}

/** TypeORM keeps the connection that its driver made in a private field. */
function connectionOf(reader: DataSource): SqliteConnection {
  return (reader.driver as unknown as { databaseConnection: SqliteConnection }).databaseConnection;
}

async function openWriter(writer: DataSource): Promise<void> {
  try {
    await writer.initialize();
    await writer.query('SELECT 1 FROM sqlite_master LIMIT 1');
  } catch (error) {
    const fault = translateFault(error);
    if (isDomainError(fault)) throw fault;
    throw new DomainError(
      'unavailable',
      'database_unavailable',
      `The database cannot be opened: ${(error as Error).message}`,
      {
        cause: error,
      },
    );
  }
}

/** Creates an SQLite file with the schema of these migrations, for rows from another database. */
export async function makeSqliteFile(
  { migrations, clock, logger }: Pick<DatabaseOptions, 'migrations' | 'clock' | 'logger'>,
  file: string,
): Promise<void> {
  const quiet = { ...logger, info: () => {} };
  const snapshotDirectory = path.dirname(file);
  const made = await createDatabase({
    file,
    entities: [],
    migrations,
    clock,
    logger: quiet,
    snapshotDirectory,
    migrate: 'always',
    isUnknown: true,
  });
  await made.close();
  // A single file, without a write-ahead log.
  await askDatabaseFile(file, [], { setUp: ['PRAGMA journal_mode = DELETE'] });
}
