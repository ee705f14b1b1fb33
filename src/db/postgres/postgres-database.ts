import { AsyncLocalStorage } from 'node:async_hooks';
import { DataSource } from 'typeorm';
import type { EntityMetadata, EntityTarget, ObjectLiteral } from 'typeorm';
import type { Pool } from 'pg';
import pg from 'pg';
import { createHistogram, createKeyedMutex, internal, isDomainError } from '../../kernel/index.ts';
import { databaseLocked } from '../constraint-errors.ts';
import { migrateWhenNew } from '../migrate-when-new.ts';
import type { Database, DatabaseOptions, PostgresSettings, Tx, WriteOptions } from '../database-interface.ts';
import type { Baseline } from '../migrations.ts';
import { ormLogger } from '../orm-logger.ts';
import { announceStatement } from '../statement-channel.ts';
import { applyInPostgres, postgresSteps } from './apply-migrations.ts';
import { checkCollation, checkServer } from './check-server.ts';
import { clientSettings, shownUrl } from './connection-settings.ts';
import { connectionRefused, translatePostgresFault } from './faults.ts';
import { registerDriver } from './driver.ts';
import { createFreshness } from './freshness.ts';
import { createLineCheck } from './line-check.ts';
import { findPooler } from './pooler.ts';
import { openPool } from './pools.ts';
import { runStatement, shareStatements } from './query-runner.ts';
import { createPostgresRowCache } from './row-cache.ts';
import { openSidePool } from './side-pool.ts';
import { beginWrite } from './write-transaction.ts';

interface PostgresOptions extends Omit<DatabaseOptions, 'postgres' | 'writing'> {
  postgres: PostgresSettings & { baseline: Baseline };
  /** Creates an SQLite file with the program's schema. */
  makeFile(file: string): Promise<void>;
}

const slowWriteMs = 1_000;
/** Upper bounds of histogram buckets in seconds, as for SQLite. */
const waitBuckets = [0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1, 3];
const defaultBusyTimeoutMs = 5_000;
/** A process that hangs inside a transaction must not block the others for longer. */
const idleInTransactionMs = 3_000;
/** Statements of pages are indexed; a longer one is a bug. */
const readStatementMs = 30_000;
/** Limit for a write: all others wait for it, but a deletion may cascade to many rows. */
const writeStatementMs = 300_000;
const writeLimits = { statementMs: writeStatementMs, idleInTransactionMs };

/**
 * Opens an instance's database on PostgreSQL: a pool for reading, and a connection for each running write. Throws
 * `unavailable`: `database_url_invalid`, `database_unavailable`, `database_unfit`, `schema_newer`, `schema_behind`,
 * `migration_failed`.
 */
export async function createPostgresDatabase(options: PostgresOptions): Promise<Database> {
  const { clock, logger, postgres } = options;
  registerDriver();
  const shown = shownUrl(postgres.url);
  const config = clientSettings(postgres.url);
  const size = postgres.poolSize;
  const readPool = openPool({
    config,
    size,
    limits: { statementMs: readStatementMs, idleInTransactionMs },
    isReadOnly: true,
    logger,
  });
  const writePool = openPool({
    config,
    size,
    limits: writeLimits,
    isReadOnly: false,
    logger,
  });
  const pools = [readPool, writePool];

  const inside = new AsyncLocalStorage<{ open: boolean } | null>();
  const lastInWrites: ((tx: Tx) => Promise<void>)[] = [];
  const writing = createKeyedMutex<string>();
  const writeWaits = createHistogram(waitBuckets);
  const busyTimeoutMs = options.busyTimeoutMs ?? defaultBusyTimeoutMs;
  let lockMetAt = 0;
  let hasLimits = true;
  const line = createLineCheck(config, pools);
  /** Numbers repeat after a failover, so the result includes the connections. */
  let connections = 0;
  readPool.on('connect', () => (connections += 1));

  const source = (pool: Pool, like?: DataSource): DataSource =>
    new PooledSource(pool, [...options.entities], ormLogger(logger), like);
  const writer = source(writePool);
  const reader = source(readPool, writer);

  const freshness = createFreshness(async () => {
    const { answer } = await line.ask(
      `SELECT pg_current_snapshot()::text || ' ' || extract(epoch FROM pg_postmaster_start_time())::text AS answer`,
    );
    return `${answer as string} ${connections} ${line.connections}`;
  });
  const { lookup, state, forget } = createPostgresRowCache(freshness, async (sql, values) => {
    announceStatement(sql, 'postgres');
    try {
      return (await runStatement(readPool as never, sql, values)).rows;
    } catch (error) {
      throw translatePostgresFault(error);
    }
  });

  /** A statement that a write did not await would run after its end. */
  function beforeStatement(): void {
    const mark = inside.getStore();
    if (mark?.open === false) throw internal('used after its write ended: await everything inside a write');
  }

  function refuseReadingInside(): void {
    if (inside.getStore()?.open === true) throw internal('inside a write, read through tx.manager');
  }

  async function runWrite<T>(
    fn: (tx: Tx) => Promise<T>,
    askedAt: number,
    { durable, scope }: WriteOptions,
  ): Promise<T> {
    if (askedAt < lockMetAt) throw databaseLocked();
    const startedAt = performance.now();
    const mark = { open: true };
    try {
      const write = await beginWrite(writer, writePool, {
        scope,
        lockTimeoutMs: busyTimeoutMs,
        isDurable: durable !== 'with-the-next',
        ...(hasLimits ? {} : { limits: writeLimits }),
      }).finally(() => writeWaits.observe((performance.now() - askedAt) / 1000));
      const { manager } = write.runner;
      const tx: Tx = {
        manager,
        get before() {
          if (!mark.open) throw internal('this write has ended');
          return manager;
        },
        now: clock.now(),
      };
      let result: T;
      try {
        result = await inside.run(mark, async () => {
          const value = await fn(tx);
          for (const last of lastInWrites) await last(tx);
          return value;
        });
      } catch (error) {
        mark.open = false;
        await write.undo(error);
        throw error;
      }
      mark.open = false;
      await write.commit();
      return result;
    } catch (error) {
      const fault = translatePostgresFault(error);
      if (isDomainError(fault) && fault.reason === 'database_locked') lockMetAt = performance.now();
      throw fault;
    } finally {
      mark.open = false;
      forget();
      const tookMs = Math.round(performance.now() - startedAt);
      if (tookMs > slowWriteMs) logger.warn('db.slow_write', { tookMs });
    }
  }

  const database: Database = {
    dialect: 'postgres',
    node: options.node ?? null,
    shownAddress: shown,
    pooler: () => findPooler(config),
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
    write(fn, writeOptions = {}) {
      if (inside.getStore()?.open === true) return Promise.reject(internal('a write started inside a write'));
      const askedAt = performance.now();
      // Writes without a scope would only wait for the same lock, each holding a connection.
      const key = writeOptions.scope ?? '';
      return inside.run(null, () => writing(key, () => runWrite(fn, askedAt, writeOptions)));
    },
    beforeCommit(last) {
      lastInWrites.push(last);
    },
    openThread: (limits) => openSidePool({ config, logger, limits }),
    async exportTo(file) {
      const { copyToSqlite } = await import('./copy-rows.ts');
      await copyToSqlite({ url: postgres.url, file, migrations: options.migrations, logger }, () =>
        options.makeFile(file),
      );
    },
    schema: () => postgresSteps(readPool, options.migrations),
    async migrate() {
      const steps = await applyInPostgres(writePool, options.migrations, postgres.baseline, clock.now());
      if (steps.length > 0) logger.info('db.migrated', { version: steps.at(-1)!.version, steps: steps.length });
      return steps;
    },
    migrateWhenNew: () => migrateWhenNew(database),
    async close() {
      // Idle connections do not keep a process from ending, also not while they are being closed.
      const closing = setInterval(() => {}, 60_000);
      try {
        await writing.settled();
        for (const each of [reader, writer]) if (each.isInitialized) await each.destroy();
        await Promise.all([line.close(), ...pools.map((pool) => (pool.ended ? null : pool.end()))]);
      } finally {
        clearInterval(closing);
      }
    },
  };

  try {
    ({ hasLimits } = await checkServer(writePool).catch((error: unknown) => {
      throw connectionRefused(error, shown);
    }));
    if (options.migrate === 'always') await database.migrate();
    else if (options.migrate === 'when-new') await database.migrateWhenNew();
    await checkCollation(writePool);
    await writer.initialize();
    shareStatements(writer, { check: beforeStatement, isRead: false });
    await reader.initialize();
    shareStatements(reader, { check: () => {}, isRead: true });
  } catch (error) {
    await database.close().catch(() => {});
    throw translatePostgresFault(error);
  }
  return database;
}

/** A data source over an existing pool; it shares the entity metadata of another one. */
class PooledSource extends DataSource {
  readonly #like: DataSource | undefined;
  readonly #found = new Map<EntityTarget<ObjectLiteral>, EntityMetadata>();

  constructor(
    pool: Pool,
    entities: DatabaseOptions['entities'][number][],
    logger: ReturnType<typeof ormLogger>,
    like?: DataSource,
  ) {
    super({
      type: 'postgres',
      // TypeORM creates a pool by `new`, which returns the object that the constructor returns.
      driver: {
        ...pg,
        Pool: function pooled() {
          return pool;
        },
      },
      entities,
      logger,
      installExtensions: false,
    });
    this.#like = like;
  }

  protected override async buildMetadatas(): Promise<void> {
    if (this.#like === undefined) return super.buildMetadatas();
    const { entityMetadatas, entityMetadatasMap } = this.#like;
    Object.assign(this, { entityMetadatas, entityMetadatasMap });
  }

  protected override findMetadata(target: EntityTarget<ObjectLiteral>): EntityMetadata | undefined {
    let found = this.#found.get(target);
    if (found === undefined && (found = super.findMetadata(target)) !== undefined) this.#found.set(target, found);
    return found;
  }
}
