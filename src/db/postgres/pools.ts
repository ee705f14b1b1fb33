import pg from 'pg';
import type { Pool, PoolClient, PoolConfig } from 'pg';
import type { Logger } from '../../kernel/index.ts';

/** Above this, a JavaScript number is not exact. */
const integer = (text: string): number => {
  const number = Number(text);
  if (!Number.isSafeInteger(number)) throw new RangeError(`the database has ${text}, a number above 2^53`);
  return number;
};

/** PostgreSQL's type numbers, and parsers to the values that SQLite returns for them. */
const parsers: Readonly<Record<number, (text: string) => unknown>> = {
  16: (text) => (text === 't' ? 1 : 0),
  20: integer,
  1700: Number,
  114: String,
  3802: String,
};

const types = {
  getTypeParser(oid: number, format?: 'text' | 'binary') {
    return (format === 'binary' ? undefined : parsers[oid]) ?? pg.types.getTypeParser(oid, format as 'text');
  },
} as unknown as NonNullable<PoolConfig['types']>;

/** Milliseconds. */
interface PoolLimits {
  /** Limit of idle time inside a transaction: a hanging process must not block others. */
  idleInTransactionMs?: number;
  statementMs?: number;
}

/** Settings of each new connection. */
function startOptions({ idleInTransactionMs, statementMs }: PoolLimits, isReadOnly: boolean): string {
  const settings: Record<string, string | number> = {
    ...(idleInTransactionMs === undefined ? {} : { idle_in_transaction_session_timeout: idleInTransactionMs }),
    ...(statementMs === undefined ? {} : { statement_timeout: statementMs }),
    ...(isReadOnly ? { default_transaction_read_only: 'on' } : {}),
    tcp_user_timeout: 10_000,
    // Statements are sent with their values each time, because a plan for these values is better than a generic one.
    plan_cache_mode: 'force_custom_plan',
    jit: 'off',
  };
  return Object.entries(settings)
    .map(([name, value]) => `-c ${name}=${value}`)
    .join(' ');
}

interface OpenPool {
  config: PoolConfig;
  size: number;
  limits: PoolLimits;
  isReadOnly: boolean;
  logger: Logger;
}

export type WatchedPool = Pool & {
  /** Ends connections opened before a time of `performance.now()`, without waiting for their servers. */
  dropOlderThan(time: number): void;
};

/** Sends nothing to the server, which would not receive it. Pending calls fail as if the server had gone. */
export function cutOff(client: unknown): void {
  (client as { connection: { stream: { destroy(): void } } }).connection.stream.destroy();
}

/** A connection outside the pools. The caller handles its errors. */
export const openConnection = (config: PoolConfig): pg.Client => new pg.Client(config);

/** A pool of connections whose errors never end the process. */
export function openPool({ config, size, limits, isReadOnly, logger }: OpenPool): WatchedPool {
  const pool = new pg.Pool({
    ...config,
    types,
    max: size,
    options: startOptions(limits, isReadOnly),
    idleTimeoutMillis: 60_000,
    allowExitOnIdle: true,
  });
  const lost = (error: Error): void => logger.warn('db.connection_lost', { message: error.message });
  pool.on('error', lost);
  // A checked-out idle connection emits an error on itself when its server goes away.
  const madeAt = new Map<PoolClient, number>();
  pool.on('connect', (client: PoolClient) => {
    madeAt.set(client, performance.now());
    client.on('error', () => {});
  });
  pool.on('remove', (client: PoolClient) => void madeAt.delete(client));
  return Object.assign(pool, {
    dropOlderThan(time: number): void {
      for (const [client, at] of madeAt) if (at < time) cutOff(client);
    },
  });
}
