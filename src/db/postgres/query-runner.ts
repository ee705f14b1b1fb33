import { QueryFailedError, QueryResult } from 'typeorm';
import type { DataSource } from 'typeorm';
import { PostgresQueryRunner } from 'typeorm/driver/postgres/PostgresQueryRunner.js';
import type { PostgresDriver } from 'typeorm/driver/postgres/PostgresDriver.js';
import type { PoolClient } from 'pg';
import { inPostgres } from '../dialect.ts';
import { announceStatement } from '../statement-channel.ts';
import { isConnectionFault } from './faults.ts';

/** PostgreSQL's texts never contain it. */
const nul = /\0/g;
const nulInJson = /(?<!\\)((?:\\\\)*)\\u0000/g;

/** A value as PostgreSQL accepts it: boolean columns are numbers, as in SQLite. */
export function boundValue(value: unknown, isJson: boolean): unknown {
  switch (typeof value) {
    case 'boolean':
      return Number(value);
    case 'undefined':
      return null;
    case 'string': {
      const text = value.includes('\0') ? value.replace(nul, '\ufffd') : value;
      return isJson && text.includes('\\u0000') ? text.replace(nulInJson, '$1\\ufffd') : text;
    }
    default:
      return value instanceof Uint8Array && !Buffer.isBuffer(value)
        ? Buffer.from(value.buffer, value.byteOffset, value.byteLength)
        : value;
  }
}

/** Runs a statement of the program. */
export async function runStatement(
  client: Pick<PoolClient, 'query'>,
  sql: string,
  parameters: readonly unknown[],
): Promise<{ rows: Record<string, unknown>[]; affected: number }> {
  const isJson = sql.includes('json');
  const values = parameters.map((value) => boundValue(value, isJson));
  const { rows, rowCount } = await client.query(inPostgres(sql), values);
  return { rows: rows as Record<string, unknown>[], affected: rowCount ?? 0 };
}

/** TypeORM's query runner for statements in the shared syntax; its `query` always returns rows. */
class StatementRunner extends PostgresQueryRunner {
  readonly #check: (sql: string) => void;
  readonly #isRead: boolean;

  constructor(driver: PostgresDriver, check: (sql: string) => void, isRead: boolean) {
    super(driver, 'master');
    this.#check = check;
    this.#isRead = isRead;
  }

  override async query(sql: string, parameters: unknown[] = [], structured = false): Promise<never> {
    this.#check(sql);
    announceStatement(sql, 'postgres');
    const result = new QueryResult();
    try {
      const { rows, affected } = await this.#run(sql, parameters);
      result.raw = rows;
      result.records = rows;
      result.affected = affected;
    } catch (error) {
      throw new QueryFailedError(sql, parameters, error as Error);
    }
    return (structured ? result : result.raw) as never;
  }

  /** A read that fails with its connection is retried once on a new one. */
  async #run(sql: string, parameters: readonly unknown[]): ReturnType<typeof runStatement> {
    const client = (await this.connect()) as PoolClient;
    try {
      return await runStatement(client, sql, parameters);
    } catch (error) {
      if (!this.#isRead || !isConnectionFault(error)) throw error;
      // Discards the connection; TypeORM releases the runner after each statement of a pool.
      const [fresh, release] = await (
        this.driver as unknown as { obtainMasterConnection(): Promise<[PoolClient, (error?: Error) => void]> }
      ).obtainMasterConnection();
      let failure: Error | undefined;
      try {
        return await runStatement(fresh, sql, parameters);
      } catch (second) {
        failure = second as Error;
        throw second;
      } finally {
        release(failure);
      }
    }
  }
}

/**
 * Makes a data source of type `postgres` accept the program's statements.
 * @param check called before each statement; throws to reject it
 */
export function shareStatements(
  source: DataSource,
  { check, isRead }: { check: (sql: string) => void; isRead: boolean },
) {
  const driver = source.driver as PostgresDriver;
  driver.createQueryRunner = () => new StatementRunner(driver, check, isRead);
  const { prepareHydratedValue } = driver;
  driver.prepareHydratedValue = (value, column) =>
    column.type === 'boolean' && value !== null && value !== undefined && column.transformer === undefined
      ? Boolean(value)
      : prepareHydratedValue.call(driver, value, column);
}
