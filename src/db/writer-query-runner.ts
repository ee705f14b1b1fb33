import { QueryFailedError, QueryResult } from 'typeorm';
import type { DataSource, ObjectLiteral } from 'typeorm';
import { BetterSqlite3QueryRunner } from 'typeorm/driver/better-sqlite3/BetterSqlite3QueryRunner.js';
import type { BetterSqlite3Driver } from 'typeorm/driver/better-sqlite3/BetterSqlite3Driver.js';
import { announceStatement } from './statement-channel.ts';
import type { WriterConnection } from './writer-connection.ts';

/**
 * TypeORM's query runner, whose synchronous step (run the statement) is replaced by a message to the writing thread.
 */
class WriterQueryRunner extends BetterSqlite3QueryRunner {
  readonly #check: (sql: string) => void;

  constructor(driver: BetterSqlite3Driver, check: (sql: string) => void) {
    super(driver);
    this.#check = check;
  }

  override async query(sql: string, parameters: unknown[] = [], structured = false): Promise<never> {
    this.#check(sql);
    announceStatement(sql);
    const connection = (await this.connect()) as WriterConnection;
    const values = parameters.map((value) => (typeof value === 'boolean' ? Number(value) : value));
    const result = new QueryResult();
    try {
      // A deferred transaction that reads first and writes later can fail at its first write, whatever the timeout;
      // taking the lock at BEGIN cannot.
      const reply = await connection.query(sql === 'BEGIN TRANSACTION' ? 'BEGIN IMMEDIATE' : sql, values);
      if ('rows' in reply) {
        result.raw = reply.rows;
        result.records = reply.rows;
      } else {
        result.raw = reply.lastInsertRowid;
        result.affected = reply.changes;
      }
    } catch (error) {
      // Readers of the error write it as JSON, which has no BigInt.
      const shown = values.map((value) => (typeof value === 'bigint' ? Number(value) : value));
      throw new QueryFailedError(sql, shown, error as Error);
    }
    return (structured ? result : result.raw) as never;
  }

  /**
   * SQLite ends a transaction by itself when the disk is full, and there is none if BEGIN met a lock. TypeORM would
   * still count one as open: every later write would be a savepoint in a transaction that is never committed.
   */
  override async rollbackTransaction(): Promise<void> {
    const isOutermost = this.transactionDepth <= 1;
    try {
      await super.rollbackTransaction();
    } finally {
      if (isOutermost) {
        this.transactionDepth = 0;
        this.isTransactionActive = false;
      }
    }
  }
}

/**
 * Makes a data source of type `better-sqlite3` send its statements to the writing thread.
 * @param check called before each statement; throws to reject it
 */
export function queryThroughWriter(source: DataSource, check: (sql: string) => void): void {
  const driver = source.driver as BetterSqlite3Driver;
  let runner: WriterQueryRunner | undefined;
  driver.createQueryRunner = () => (runner ??= new WriterQueryRunner(driver, check));
  const escape = driver.escapeQueryWithParameters.bind(driver);
  driver.escapeQueryWithParameters = (sql, parameters) => {
    const [, head = '', tail = ''] = /^((?:INSERT|UPDATE) .*?)( WHERE .*)?$/s.exec(sql) ?? [];
    if (head === '') return escape(sql, parameters);
    const [set, values] = escape(head, bindIntegers(parameters));
    const [where, compared] = escape(tail, parameters);
    return [set + where, [...values, ...compared]];
  };
}

/**
 * Integers as SQLite binds them. TypeORM writes numbers into the text of a statement, so that each time and each count
 * makes another one, whose programs of triggers take half a megabyte: the thread would keep three hundred of them. A
 * condition keeps its numbers, by which SQLite chooses partial indexes.
 */
const bindIntegers = (parameters: ObjectLiteral): ObjectLiteral =>
  Object.fromEntries(
    Object.entries(parameters).map(([key, value]) => [
      key,
      Number.isSafeInteger(value) ? BigInt(value as number) : value,
    ]),
  );
