import type { DataSource, QueryRunner } from 'typeorm';
import type { Pool, PoolClient, QueryResult } from 'pg';
import { internal } from '../../kernel/index.ts';
import { isConnectionFault, outcomeUnknown } from './faults.ts';
import { instanceLock, scopeLock } from './locks.ts';

interface WriteTransaction {
  runner: QueryRunner;
  /** Resolves when the change is durable. Throws `outcome_unknown` if that cannot be determined. */
  commit(): Promise<void>;
  /** Ends a failed write; discards its connection if its state is in doubt. */
  undo(error: unknown): Promise<void>;
}

interface BeginOptions {
  /** Writes of different scopes run in parallel; one without a scope runs alone. */
  scope: string | undefined;
  lockTimeoutMs: number;
  isDurable: boolean;
  /** In milliseconds, if the connection has none: PgBouncer drops the settings that a connection begins with. */
  limits?: { statementMs: number; idleInTransactionMs: number };
}

type PooledRunner = QueryRunner & { releasePostgresConnection(error?: Error): Promise<void> };

/** One message: the transaction, its limits, its lock, and the number by which its outcome can be queried. */
function openingWords({ scope, lockTimeoutMs, isDurable, limits }: BeginOptions): string {
  const locks =
    scope === undefined
      ? [`SELECT pg_advisory_xact_lock(${instanceLock})`]
      : [`SELECT pg_advisory_xact_lock_shared(${instanceLock})`, `SELECT pg_advisory_xact_lock(${scopeLock(scope)})`];
  return [
    'BEGIN',
    `SET LOCAL lock_timeout = ${lockTimeoutMs}`,
    ...(limits === undefined
      ? []
      : [
          `SET LOCAL statement_timeout = ${limits.statementMs}`,
          `SET LOCAL idle_in_transaction_session_timeout = ${limits.idleInTransactionMs}`,
        ]),
    ...(isDurable ? [] : ['SET LOCAL synchronous_commit = off']),
    ...locks,
    'SELECT pg_current_xact_id()::text AS id',
  ].join('; ');
}

/** Begins a write on its own connection. Replaces once a connection that was lost while idle. */
export async function beginWrite(source: DataSource, pool: Pool, options: BeginOptions): Promise<WriteTransaction> {
  for (let attempt = 1; ; attempt += 1) {
    const runner = source.createQueryRunner() as PooledRunner;
    try {
      const client = (await runner.connect()) as PoolClient;
      const results = (await client.query(openingWords(options))) as unknown as QueryResult<{ id: string }>[];
      Object.assign(runner, { isTransactionActive: true, transactionDepth: 1 });
      return createTransaction(runner, client, pool, results.at(-1)!.rows[0]!.id);
    } catch (error) {
      await throwAway(runner, error);
      if (attempt > 1 || !isConnectionFault(error)) throw error;
    }
  }
}

/** The server rolls back the transaction of a closed connection. */
async function throwAway(runner: PooledRunner, error: unknown): Promise<void> {
  await runner.releasePostgresConnection(error instanceof Error ? error : new Error(String(error)));
}

function createTransaction(runner: PooledRunner, client: PoolClient, pool: Pool, id: string): WriteTransaction {
  return {
    runner,
    async commit() {
      let result: QueryResult;
      try {
        result = await client.query('COMMIT');
      } catch (error) {
        await throwAway(runner, error);
        // An error after COMMIT was sent looks like any other, so the outcome must be queried.
        if (isConnectionFault(error) && (await askForEnd(pool, id, error)) === 'committed') return;
        throw error;
      }
      await runner.release();
      if (result.command !== 'COMMIT') throw internal('a write went on after one of its statements had failed');
    },
    async undo(error) {
      if (isConnectionFault(error)) return throwAway(runner, error);
      try {
        await client.query('ROLLBACK');
        await runner.release();
      } catch (second) {
        await throwAway(runner, second);
      }
    },
  };
}

/** Milliseconds. */
const askForMs = 10_000;
const betweenMs = 100;

/** Queries the outcome of a transaction on new connections until it has ended. Throws `outcome_unknown`. */
async function askForEnd(pool: Pool, id: string, cause: unknown): Promise<'committed' | 'aborted'> {
  const until = performance.now() + askForMs;
  while (performance.now() < until) {
    try {
      const { rows } = await pool.query('SELECT pg_xact_status($1::xid8) AS status', [id]);
      const status = (rows as { status: string | null }[])[0]?.status;
      if (status === 'committed' || status === 'aborted') return status;
      // Null means that the transaction is too old to be remembered, which this one is not.
    } catch {
      // Not reachable yet.
    }
    await new Promise((resolve) => setTimeout(resolve, betweenMs));
  }
  throw outcomeUnknown(cause);
}
