import type { Client, PoolConfig } from 'pg';
import { databaseUnavailable } from './faults.ts';
import { cutOff, openConnection } from './pools.ts';
import type { WatchedPool } from './pools.ts';

/** Milliseconds without a reply, after which another connection is tried. */
const doubtMs = 400;
const connectMs = 900;

/** A connection for instant queries that check whether the database is available. */
interface LineCheck {
  /** The first row of a result. Throws `database_unavailable`. */
  ask(sql: string): Promise<Record<string, unknown>>;
  /** Number of connections opened so far. */
  readonly connections: number;
  close(): Promise<void>;
}

interface Line {
  client: Client;
  /** Time when the pending query was sent; null if there is none. */
  silentSince: number | null;
}

/**
 * A network that drops packets does not end connections: each statement would wait for minutes, and the pools would be
 * full of them long after the network is back. A query without an immediate reply is therefore repeated on a second,
 * new connection. If that one replies and the first does not, older connections are dead, and the pools drop theirs; a
 * database that is only slow replies on both.
 */
export function createLineCheck(config: PoolConfig, pools: readonly WatchedPool[]): LineCheck {
  let line: Promise<Line> | null = null;
  let made = 0;

  async function connect(): Promise<Line> {
    const client = openConnection({ ...config, connectionTimeoutMillis: connectMs });
    const own: Line = { client, silentSince: null };
    client.on('error', () => void forget(own));
    client.on('end', () => void forget(own));
    await client.connect();
    made += 1;
    return own;
  }

  async function forget(own: Line): Promise<void> {
    if (line !== null && (await line.catch(() => null)) === own) line = null;
  }

  /** The next query retries a failed connection. */
  function current(): Promise<Line> {
    if (line !== null) return line;
    const next = connect();
    line = next;
    next.catch(() => {
      if (line === next) line = null;
    });
    return next;
  }

  async function question(own: Line, sql: string): Promise<Record<string, unknown>> {
    own.silentSince = performance.now();
    keepsAlive(own.client, true);
    const { rows } = await own.client.query(sql);
    own.silentSince = null;
    keepsAlive(own.client, false);
    return (rows as Record<string, unknown>[])[0]!;
  }

  /** Uses its own connection; the first one is dropped if this one replies earlier. */
  async function askAnew(before: Line, sql: string): Promise<Record<string, unknown>> {
    const next = await connect();
    const since = before.silentSince;
    const answer = await question(next, sql);
    if (since === null || before.silentSince !== since) {
      void next.client.end().catch(() => {});
      return answer;
    }
    line = Promise.resolve(next);
    cutOff(before.client);
    for (const pool of pools) pool.dropOlderThan(since);
    return answer;
  }

  return {
    get connections() {
      return made;
    },
    async ask(sql) {
      try {
        const own = await current();
        // Its reply would belong to an older query.
        if (own.silentSince !== null) return await askAnew(own, sql);
        const first = question(own, sql);
        const inTime = await Promise.race([first, waitFor(doubtMs)]);
        return inTime ?? (await Promise.any([first, askAnew(own, sql)]));
      } catch (error) {
        throw databaseUnavailable(error instanceof AggregateError ? error.errors[0] : error);
      }
    },
    async close() {
      const own = await line?.catch(() => null);
      line = null;
      await own?.client.end().catch(() => {});
    },
  };
}

/** An idle connection must not keep a command from ending; the client's types lack these functions. */
function keepsAlive(client: Client, isBusy: boolean): void {
  const own = client as unknown as { ref(): void; unref(): void };
  if (isBusy) own.ref();
  else own.unref();
}

const waitFor = (ms: number): Promise<null> =>
  new Promise((resolve) => {
    setTimeout(() => resolve(null), ms).unref();
  });
