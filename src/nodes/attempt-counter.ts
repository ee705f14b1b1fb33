import { RateLimiterMemory } from 'rate-limiter-flexible';
import type { RateLimiterRes } from 'rate-limiter-flexible';
import { databaseTime, rows } from '../db/index.ts';
import type { Database } from '../db/index.ts';
import { digestOf, removePassed } from './passing-rows.ts';

/** Attempts in the window that began with the first of them. */
interface Attempts {
  count: number;
  /** Until the window ends. */
  leftMs: number;
}

/** Counts attempts by key. For limits that protect accounts: a second node must not double them. */
export interface AttemptCounter {
  get(key: string): Promise<Attempts>;
  /** Counts one more. @returns all, with this one */
  add(key: string): Promise<Attempts>;
  /** Takes one back; never below none. */
  takeBack(key: string): Promise<void>;
}

const none: Attempts = { count: 0, leftMs: 0 };

/**
 * In memory where a process has the database for itself: a restart begins anew. Where several serve it, counts are rows
 * under digests of their keys.
 * @param name which attempts; part of the keys
 */
export function createAttemptCounter(
  { db }: { db: Pick<Database, 'node' | 'read' | 'write'> },
  name: string,
  windowSeconds: number,
): AttemptCounter {
  return db.node === null ? inMemory(windowSeconds) : inRows(db, name, windowSeconds);
}

function inMemory(windowSeconds: number): AttemptCounter {
  const limiter = new RateLimiterMemory({ points: 1, duration: windowSeconds });
  const attemptsOf = (state: RateLimiterRes | null): Attempts =>
    state === null ? none : { count: state.consumedPoints, leftMs: state.msBeforeNext };
  return {
    get: async (key) => attemptsOf(await limiter.get(key)),
    add: async (key) => attemptsOf(await limiter.penalty(key)),
    async takeBack(key) {
      // A window that ended meanwhile must not begin below zero.
      if (((await limiter.get(key))?.consumedPoints ?? 0) > 0) await limiter.reward(key);
    },
  };
}

function inRows(db: Pick<Database, 'read' | 'write'>, name: string, windowSeconds: number): AttemptCounter {
  const now = databaseTime();
  const lazily = (id: string) => ({ scope: `attempts:${id}`, durable: 'with-the-next' }) as const;
  const idOf = (key: string): string => digestOf(name, key);
  const write = <T extends object>(id: string, sql: string, values: readonly unknown[]): Promise<T[]> =>
    db.write(({ manager }) => rows<T>(manager, sql, [...values]), lazily(id));
  const attemptsOf = ([row]: { count: unknown; leftMs: unknown }[]): Attempts =>
    row === undefined ? none : { count: Number(row.count), leftMs: Number(row.leftMs) };

  return {
    async get(key) {
      return attemptsOf(
        await rows(db.read, `SELECT count, until - ${now} AS "leftMs" FROM attempts WHERE id = ? AND until > ${now}`, [
          idOf(key),
        ]),
      );
    },
    async add(key) {
      const id = idOf(key);
      const windowMs = windowSeconds * 1000;
      const counted = attemptsOf(
        await write(
          id,
          `INSERT INTO attempts (id, count, until) VALUES (?, 1, ${now} + CAST(? AS BIGINT))
            ON CONFLICT (id) DO UPDATE SET
              count = CASE WHEN attempts.until > ${now} THEN attempts.count + 1 ELSE 1 END,
              until = CASE WHEN attempts.until > ${now} THEN attempts.until ELSE excluded.until END
            RETURNING count, until - ${now} AS "leftMs"`,
          [id, windowMs],
        ),
      );
      if (counted.count === 1) await db.write(({ manager }) => removePassed(manager, 'attempts'), lazily(id));
      return counted;
    },
    async takeBack(key) {
      const id = idOf(key);
      await write(id, `UPDATE attempts SET count = count - 1 WHERE id = ? AND count > 0 AND until > ${now}`, [id]);
    },
  };
}
