import { AsyncLocalStorage } from 'node:async_hooks';
import { existsSync, mkdirSync, renameSync, rmSync } from 'node:fs';
import path from 'node:path';
import { DataSource } from 'typeorm';
import type {
  DataSourceOptions,
  EntityManager,
  EntityMetadata,
  EntitySchema,
  EntityTarget,
  ObjectLiteral,
} from 'typeorm';
import { syncPath } from '../files/index.ts';
import { createHistogram, createKeyedMutex, DomainError, internal, isDomainError } from '../kernel/index.ts';
import type { Clock, Histogram, Logger } from '../kernel/index.ts';
import { databaseLocked, isStorageFault, translateFault } from './constraint-errors.ts';
import { createRowCache } from './row-cache.ts';
import type { Lookup } from './row-cache.ts';
import { migrationClasses, recordApplied, schemaSteps } from './migrations.ts';
import type { Migration, SchemaStep } from './migrations.ts';
import { ormLogger } from './orm-logger.ts';
import { SqliteConnection } from './sqlite-connection.ts';
import { WriterConnection } from './writer-connection.ts';
import { openDatabaseThread } from './database-thread.ts';
import type { ThreadLimits, DatabaseThread } from './database-thread.ts';
import { readUnfinishedUpgrade, removeUnfinishedUpgrade, writeUnfinishedUpgrade } from './unfinished-upgrade.ts';
import type { UnfinishedUpgrade } from './unfinished-upgrade.ts';
import { announceStatement } from './statement-channel.ts';
import { queryThroughWriter } from './writer-query-runner.ts';

/** The parameter of a write's function. */
export interface Tx {
  manager: EntityManager;
  /**
   * The committed state when the write began, read without the writing thread. It equals what `manager` would return,
   * because no other write can run meanwhile; so it throws once this write has changed something.
   */
  readonly before: EntityManager;
  /** One timestamp for all rows of the write, milliseconds since the epoch. */
  now: number;
}

export interface WriteOptions {
  /** For changes that can be reconstructed after a crash. */
  durable?: 'with-the-next';
}

/** The read connection and the write connection; no other module opens the database. */
export interface Database {
  /** Read-only; sees committed rows and never waits for a write. */
  readonly read: EntityManager;
  /**
   * A cached lookup on the read connection for the most frequent queries: rows by column values, without the mapper.
   */
  readonly lookup: Lookup;
  /** How long writes waited in the queue and for the lock of another process, in seconds. */
  readonly writeWaits: Omit<Histogram, 'observe'>;
  /** A number that changes with every commit; with a delay of at most two milliseconds for other processes. */
  state(): Promise<number>;
  /**
   * Runs `fn` in a transaction. Writes are serialised in the process: on a shared connection, one request's rollback
   * would undo another's acknowledged rows. Nothing slow belongs inside `fn`. When `fn` fails, nothing is changed. A
   * nested write throws. Resolves when the change is on disk; with `durable: 'with-the-next'` as soon as others can see
   * it: a power failure may undo it, but never without undoing all later writes.
   */
  write<T>(fn: (tx: Tx) => Promise<T>, options?: WriteOptions): Promise<T>;
  /**
   * Registers a function that runs at the end of every write: `last` sees all changes of the write, and is committed or
   * rolled back with it. For indexes that must agree with their rows.
   */
  beforeCommit(last: (tx: Tx) => Promise<void>): void;
  /**
   * Opens another read connection in a worker thread, for statements that would block the main thread. It sees
   * committed rows. The caller closes it.
   * @param attached further SQLite files, by their schema names in the statements
   */
  openThread(limits: ThreadLimits, attached?: Readonly<Record<string, string>>): DatabaseThread;
  schema(): Promise<SchemaStep[]>;
  /** Copies a database that has rows, then applies pending migrations. */
  migrate(): Promise<SchemaStep[]>;
  close(): Promise<void>;
}

export interface DatabaseOptions {
  /** The SQLite file; created when missing. */
  file: string;
  entities: readonly EntitySchema[];
  migrations: readonly Migration[];
  clock: Clock;
  logger: Logger;
  /** The folder for copies from before a migration. */
  snapshotDirectory: string;
  /**
   * `always` applies pending migrations now; `when-new` only to a database without a schema; `never` leaves that to the
   * caller.
   */
  migrate: 'always' | 'when-new' | 'never';
  /** Called once when storage fails in a way that makes continuing unsafe. */
  onStorageFault?: (error: unknown) => void;
  /** How long a write waits for a lock that another process holds, in milliseconds; default 5000. */
  busyTimeoutMs?: number;
  /** The write connection, if `beginWriting` has opened it already. */
  writing?: WriterConnection;
}

/**
 * Opens the write connection while the rest of the program is loading: its thread takes about as long to start. The
 * folder of `file` must exist and be private.
 */
export function beginWriting(file: string): WriterConnection {
  return new WriterConnection(file, { timeout: defaultBusyTimeoutMs });
}

const slowWriteMs = 1000;
/** Upper bounds in seconds. */
const waitBuckets = [0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1, 3];
/** Worker threads yield to the main thread, which every page and also the response of a search pass. */
const threadNiceness = 5;
const defaultBusyTimeoutMs = 5000;

/**
 * Opens the database. Refuses with `unavailable`: `schema_newer`, `schema_behind` (only when not migrating),
 * `migration_failed`, `database_locked`, `database_unavailable`, `read_only`.
 */
export async function createDatabase(options: DatabaseOptions): Promise<Database> {
  const { clock, logger } = options;
  mkdirSync(path.dirname(options.file), { recursive: true, mode: 0o700 });

  const shared = {
    type: 'better-sqlite3' as const,
    database: options.file,
    entities: [...options.entities],
    statementCacheSize: 300,
    logger: ormLogger(logger),
  };
  // Before TypeORM needs it: the thread starts while the rest of the program is loading.
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
  /** Resolves when syncing is switched on again after an unsynced write. */
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
    // Writes that were queued while the lock timed out have waited for it too: timeouts must not add up over the queue.
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
      // The log is written in order and synced as a whole: the next synced write includes this one. The statements are
      // not awaited: the thread runs them in order.
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
      // They are off while a table is rebuilt, and TypeORM leaves them off when a step fails.
      await writer.query('PRAGMA foreign_keys = ON');
    }
    // For a new database, the individual steps are not worth a log line.
    if (newest === undefined) logger.info('db.created', { version: pending.at(-1)!.version });
    else for (const step of pending) logger.info('db.migrated', { version: step.version, name: step.name });
    return pending.map((step) => ({ ...step, state: 'applied', appliedAt: now }));
  }

  /** The upgrade that the program was ended in. Where no step of it was applied, it begins anew, with a new copy. */
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
    // One file for each pair of versions: a migration that fails at every restart must not fill the disk with copies.
    renameSync(unfinished, file);
    await syncPath(options.snapshotDirectory);
    logger.info('db.snapshot', { file, schema: from });
    return path.basename(file);
  }

  const database: Database = {
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
    // Through the read connection where there is one: the query must not wait behind a write that waits for a lock.
    schema: () => inside.run(null, () => schemaSteps(reader.isInitialized ? reader : writer, options.migrations)),
    migrate: () => inTurn(migrate),
    async close() {
      await writing.settled();
      if (reader.isInitialized) await reader.destroy();
      await connection.close();
    },
  };

  await openWriter(writer);
  try {
    if (options.migrate === 'always') await database.migrate();
    else if (options.migrate === 'when-new') await migrateWhenNew(database);
    await reader.initialize();
  } catch (error) {
    await database.close();
    throw translateFault(error);
  }
  return database;
}

/**
 * TypeORM's metadata of the entities is equal for both connections and takes as long to build as opening a connection:
 * it is built once.
 */
class ReadingSource extends DataSource {
  readonly #like: DataSource;
  readonly #found = new Map<EntityTarget<ObjectLiteral>, EntityMetadata>();

  /** @param like a source of the same entities and driver, opened before this one */
  constructor(options: DataSourceOptions, like: DataSource) {
    super(options);
    this.#like = like;
  }

  protected override async buildMetadatas(): Promise<void> {
    const { entityMetadatas, entityMetadatasMap } = this.#like;
    Object.assign(this, { entityMetadatas, entityMetadatasMap });
  }

  /** TypeORM passes through all entities for each schema or table that a statement names, several times. */
  protected override findMetadata(target: EntityTarget<ObjectLiteral>): EntityMetadata | undefined {
    let found = this.#found.get(target);
    if (found === undefined && (found = super.findMetadata(target)) !== undefined) this.#found.set(target, found);
    return found;
  }
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

/** An interrupted first start leaves a file without a schema, which still counts as new. */
async function migrateWhenNew(database: Database): Promise<void> {
  const steps = await database.schema();
  const pending = steps.filter((step) => step.state === 'pending');
  if (pending.length === 0) return;
  if (pending.length === steps.length) return void (await database.migrate());
  throw new DomainError(
    'unavailable',
    'schema_behind',
    `The database is older than this program: it needs V${pending.at(-1)!.version}.`,
  );
}
