import type { EntityManager, EntitySchema } from 'typeorm';
import type { Clock, Histogram, Logger } from '../kernel/index.ts';
import type { DatabaseThread, ThreadLimits } from './database-thread.ts';
import type { Dialect } from './dialect.ts';
import type { Baseline, Migration, SchemaStep } from './migrations.ts';
import type { Lookup } from './row-cache.ts';
import type { WriterConnection } from './writer-connection.ts';

/** Context passed to the function of a write. */
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
  /**
   * Scope of the changes, for example `task:12`, if their order among other writes does not matter. On PostgreSQL
   * writes of different scopes run in parallel; SQLite has one writer.
   */
  scope?: string;
}

/**
 * When a PgBouncer between this process and PostgreSQL gives a connection of the server to another client: after a
 * session, or after each transaction.
 */
export type PoolerMode = 'session' | 'transaction';

/** The read connection and the write connection; no other module opens the database. */
export interface Database {
  readonly dialect: Dialect;
  /**
   * The name of this process among those that serve the database; null if no other process can, as with an SQLite file.
   * Commands use the name of the server of their data folder.
   */
  readonly node: string | null;
  /** Location of the database, for display; without a password. */
  readonly shownAddress: string;
  /** The mode of a PgBouncer in front of the database; null without one. */
  pooler(): Promise<PoolerMode | null>;
  /** Read-only; sees committed rows and never waits for a write. */
  readonly read: EntityManager;
  /**
   * A cached lookup on the read connection for the most frequent queries: rows by column values, without the mapper.
   */
  readonly lookup: Lookup;
  /** Histograms of the time that writes waited in the queue and for another process's lock, in seconds. */
  readonly writeWaits: Omit<Histogram, 'observe'>;
  /** A number that changes with every commit; with a delay of at most two milliseconds for other processes. */
  state(): Promise<number>;
  /**
   * Runs `fn` in a transaction. Writes are serialised in the process: on a shared connection, one request's rollback
   * would undo another's acknowledged rows. `fn` must not do slow work. If `fn` fails, nothing is changed. A nested
   * write throws. Resolves when the change is on disk; with `durable: 'with-the-next'` as soon as it is visible to
   * others: a power failure may undo it, but never without undoing all later writes.
   */
  write<T>(fn: (tx: Tx) => Promise<T>, options?: WriteOptions): Promise<T>;
  /**
   * Registers a function that runs at the end of every write: `last` sees all changes of the write, and is committed or
   * rolled back with it. For indexes that must stay consistent with their rows.
   */
  beforeCommit(last: (tx: Tx) => Promise<void>): void;
  /**
   * Opens another read connection in a worker thread, for statements that would block the main thread. It sees
   * committed rows. The caller closes it.
   * @param attached further SQLite files, by their schema names in the statements
   */
  openThread(limits: ThreadLimits, attached?: Readonly<Record<string, string>>): DatabaseThread;
  /** Writes a consistent snapshot of the rows into an SQLite file that must not exist; also during writes. */
  exportTo(file: string): Promise<void>;
  schema(): Promise<SchemaStep[]>;
  /** Copies a database that has rows, then applies pending migrations. */
  migrate(): Promise<SchemaStep[]>;
  /** Applies the steps to a database without a schema. Throws `schema_behind` if it has only some of them. */
  migrateWhenNew(): Promise<void>;
  close(): Promise<void>;
}

/** Connection settings for PostgreSQL. */
export interface PostgresSettings {
  /** `postgres://user:password@host:port/database?sslmode=…&sslrootcert=FILE`. */
  url: string;
  /** Number of connections for reading, and for concurrent writes. */
  poolSize: number;
}

export interface DatabaseOptions {
  /** The SQLite file; created if missing. */
  file: string;
  /** PostgreSQL, instead of the file. */
  postgres?: PostgresSettings & { baseline: Baseline };
  entities: readonly EntitySchema[];
  migrations: readonly Migration[];
  clock: Clock;
  logger: Logger;
  /** Folder for copies from before a migration. */
  snapshotDirectory: string;
  /**
   * `always` applies pending migrations now; `when-new` only to a database without a schema; `never` leaves that to the
   * caller.
   */
  migrate: 'always' | 'when-new' | 'never';
  /** See `Database.node`; letters, digits and `-`. */
  node?: string | null;
  /** Called once if storage fails in a way that makes continuing unsafe. */
  onStorageFault?: (error: unknown) => void;
  /** Time that a write waits for another process's lock, in milliseconds; default 5000. */
  busyTimeoutMs?: number;
  /** Whether no other process uses the file, so that none changes its schema concurrently. */
  isUnknown?: boolean;
  /** The write connection, if `beginWriting` has already opened it. */
  writing?: WriterConnection;
}
