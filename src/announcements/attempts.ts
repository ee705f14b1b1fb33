import { IsNull } from 'typeorm';
import type { Database, Tx } from '../db/index.ts';
import type { EventColumns, EventPlace } from './announced-event.ts';
import { cutOff, isExhausted, isTooSoon, maxAttempts, nextTry } from './next-try.ts';
import type { Tries } from './next-try.ts';

/**
 * Delay of the last attempt, in milliseconds. The second one comes with the next run of the scheduled task, within a
 * minute, for transient failures (a lock, a killed process); this one outlasts a quarter of an hour of heavy load, so
 * that load alone parks nothing.
 */
const lastTryAfterMs = 10 * 60_000;
/** Delay of an attempt after one that the end of the server cut off, in milliseconds. */
const cutOffTryAfterMs = 60_000;

/** Length limit of a stored error; the log has the whole of it. */
const maxErrorLength = 500;

/** The stored error while a listener runs, which stays when the server exits meanwhile. */
const endedMeanwhile = 'the server ended while this listener ran';

/**
 * Records of attempts are not synced: a killed server loses none of them, and after a power failure an additional
 * attempt is harmless.
 */
const options = { durable: 'with-the-next' } as const;

interface AttemptsRow extends Tries {
  listener: string;
  lastError: string | null;
}

/**
 * When an event is due that some listener has not recorded: a condition on its columns, for a query with the alias
 * `alias`, and its parameters.
 */
export function dueAgain(alias: string, now: number): { sql: string; parameters: { [name: string]: number | string } } {
  return {
    sql: `(${alias}.attempts < :last OR ${alias}.tried_at <= :before OR (${alias}.last_error LIKE :cut AND ${alias}.tried_at <= :soon))`,
    parameters: {
      last: maxAttempts - 1,
      before: now - lastTryAfterMs,
      cut: `%${endedMeanwhile}%`,
      soon: now - cutOffTryAfterMs,
    },
  };
}

/** Counts an announcement before its first listener runs. */
export function beginAnnouncement(db: Database, { tables, row }: EventPlace, attempts: number): Promise<unknown> {
  return db.write(
    ({ manager, now }) =>
      manager.update(tables.events, row, { attempts, triedAt: now } satisfies Partial<EventColumns>),
    options,
  );
}

/** When the present process began, in epoch milliseconds: an attempt that began before was cut off. */
export interface ServerTime {
  startedAt: number;
  now: number;
}

/** The listeners whose next attempt waits until the server has been up for a while. */
export async function deferredListeners(
  db: Database,
  { tables, key }: EventPlace,
  time: ServerTime,
): Promise<ReadonlySet<string>> {
  const rows = (await db.read.findBy(tables.attempts, key)) as unknown as AttemptsRow[];
  return new Set(
    rows
      .filter((row) => !isExhausted(cutOff(row, time)) && isTooSoon(cutOff(row, time), time))
      .map((row) => row.listener),
  );
}

/**
 * Counts an attempt of one listener before it runs, so that the log names one that crashes the server. The end of the
 * server is not a failure of the listener: an attempt that was cut off is counted apart.
 * @returns whether it may be tried, may be tried for the last time, has had all its attempts, or waits
 */
export function beginAttempt(
  db: Database,
  place: EventPlace,
  listener: string,
  time: ServerTime,
): Promise<'try' | 'last try' | 'exhausted' | 'later'> {
  const { tables, row, key } = place;
  return db.write(async ({ manager }) => {
    const before = (await manager.findOneBy(tables.attempts, { ...key, listener })) as AttemptsRow | null;
    // The first announcement, which nearly always succeeds, records no listeners. One that threw left its error.
    const threw = before === null && ((await manager.findOneBy(tables.events, row)) as EventColumns | null)?.lastError;
    const tries = before === null ? { attempts: threw ? 1 : 0, ends: 0, begunAt: null } : cutOff(before, time);
    const verdict = nextTry(tries, time);
    const lastError = verdict === 'exhausted' ? (before?.lastError ?? endedMeanwhile) : endedMeanwhile;
    const begins = verdict === 'try' || verdict === 'last try';
    const tried = {
      ...tries,
      attempts: tries.attempts + (begins ? 1 : 0),
      begunAt: begins ? time.now : null,
      lastError,
    };
    if (verdict === 'later') return verdict;
    if (before === null) await manager.insert(tables.attempts, { ...key, listener, ...tried });
    else await manager.update(tables.attempts, { ...key, listener }, tried);
    if (begins) await manager.update(tables.events, row, { lastError: `${listener}: ${endedMeanwhile}` });
    return verdict;
  }, options);
}

/**
 * Ends an announcement that did not reach every listener; those that are done are not called again.
 * @param failures the listeners that failed this time, with their errors
 * @param open the listeners that were not tried: without further attempts, or waiting
 * @param idle the listeners that had nothing to record
 */
export function endAnnouncement(
  db: Database,
  { tables, row, key }: EventPlace,
  {
    failures,
    open,
    idle,
    isParked,
  }: {
    failures: ReadonlyMap<string, unknown>;
    open: ReadonlySet<string>;
    idle: readonly string[];
    isParked: boolean;
  },
): Promise<void> {
  return db.write(async ({ manager, before, now }) => {
    if (await before.existsBy(tables.events, { ...row, announcedAt: IsNull() })) {
      const marks = (await before.findBy(tables.marks, key)) as unknown as { listener: string }[];
      const done = new Set(marks.map(({ listener }) => listener));
      for (const listener of idle) if (!done.has(listener)) await manager.insert(tables.marks, { ...key, listener });
    }
    const errors = new Map<string, string>();
    for (const { listener, lastError } of (await manager.findBy(tables.attempts, key)) as unknown as AttemptsRow[])
      if (open.has(listener)) errors.set(listener, lastError ?? endedMeanwhile);
    for (const [listener, error] of failures) {
      errors.set(listener, messageOf(error));
      await manager.update(tables.attempts, { ...key, listener }, { lastError: messageOf(error), begunAt: null });
    }
    const lastError = [...errors].map(([listener, error]) => `${listener}: ${error}`).join('; ');
    const change = { lastError: lastError.slice(0, maxErrorLength), ...(isParked ? { parkedAt: now } : {}) };
    // A concurrent process may have notified every listener.
    await manager.update(tables.events, { ...row, announcedAt: IsNull() }, change);
  });
}

/** Gives each listener without further attempts one more. */
export async function unpark({ manager }: Tx, { tables, row, key }: EventPlace): Promise<void> {
  await manager.update(tables.events, row, { parkedAt: null });
  await manager.update(tables.attempts, { ...key, attempts: maxAttempts }, { attempts: maxAttempts - 1 });
  await manager.update(tables.attempts, key, { ends: 0, begunAt: null });
}

function messageOf(error: unknown): string {
  const text = error instanceof Error ? error.message : String(error);
  return text.replace(/\s+/g, ' ').slice(0, maxErrorLength);
}
