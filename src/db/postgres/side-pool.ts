import type { PoolConfig } from 'pg';
import { unavailable } from '../../kernel/index.ts';
import type { Logger } from '../../kernel/index.ts';
import type { DatabaseThread, ThreadLimits } from '../database-thread.ts';
import { positioned } from '../dialect.ts';
import { announceStatement } from '../statement-channel.ts';
import type { ThreadRow, ThreadStatement } from '../thread-protocol.ts';
import { translatePostgresFault } from './faults.ts';
import { openPool } from './pools.ts';
import { runStatement } from './query-runner.ts';

/** A connection outside the pools, for long statements; one request at a time, in one snapshot. */
export function openSidePool({
  config,
  logger,
  limits,
}: {
  config: PoolConfig;
  logger: Logger;
  limits: ThreadLimits;
}): DatabaseThread {
  const pool = openPool({ config, size: 1, limits: { statementMs: limits.requestMs }, isReadOnly: true, logger });
  let waiting = 0;

  async function run(statements: ThreadStatement[]): Promise<ThreadRow[][]> {
    if (waiting > limits.queue)
      throw unavailable('too_many_waiting', 'Too many people ask for this at once. Please try again in a moment.', {
        retryAfterSeconds: 2,
      });
    waiting += 1;
    try {
      const client = await pool.connect();
      let failure: Error | undefined;
      try {
        if (statements.length > 1) await client.query('BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY');
        const all: ThreadRow[][] = [];
        for (const { sql, parameters } of statements) {
          announceStatement(sql, 'postgres');
          const [text, values] = Array.isArray(parameters) ? [sql, parameters] : positioned(sql, parameters);
          all.push((await runStatement(client, text, values)).rows);
        }
        if (statements.length > 1) await client.query('COMMIT');
        return all;
      } catch (error) {
        failure = error as Error;
        throw error;
      } finally {
        client.release(failure);
      }
    } catch (error) {
      throw translatePostgresFault(error);
    } finally {
      waiting -= 1;
    }
  }
  return { run, close: () => pool.end() };
}
