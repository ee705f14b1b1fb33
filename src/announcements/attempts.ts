import { IsNull } from 'typeorm';
import type { Database, Tx } from '../db/index.ts';
import type { EventColumns, EventPlace } from './announced-event.ts';

/** Attempts per listener and event; then the event is parked. */
export const maxAttempts = 3;

/**
 * Delay of the last attempt, in milliseconds. The second one comes with the next run of the scheduled task, within a
 * minute, for transient failures (a lock, a killed process); this one outlasts a quarter of an hour of heavy load, so
 * that load alone parks nothing.
 */
export const lastTryAfterMs = 10 * 60_000;

/** Length limit of a stored error; the log has the whole of it. */
const maxErrorLength = 500;

/** The stored error while a listener runs, which stays when the server exits meanwhile. */
const endedMeanwhile = 'the server ended while this listener ran';

/**
 * Records of attempts are not synced: a killed server loses none of them, and after a power failure an additional
 * attempt is harmless.
 */
const options = { durable: 'with-the-next' } as const;

interface AttemptsRow {
  listener: string;
  attempts: number;
  lastError: string | null;
}

/** Counts an announcement before its first listener runs. */
export function beginAnnouncement(db: Database, { tables, row }: EventPlace, attempts: number): Promise<unknown> {
  return db.write(
    ({ manager, now }) =>
      manager.update(tables.events, row, { attempts, triedAt: now } satisfies Partial<EventColumns>),
    options,
  );
}

/**
 * Counts an attempt of one listener before it runs, so that the log names one that crashes the server. A listener
 * without a row had one attempt: the first announcement, which nearly always succeeds, records no listeners.
 * @returns the number of attempts, this one included; null when it has had all its attempts
 */
export function beginAttempt(db: Database, place: EventPlace, listener: string): Promise<number | null> {
  const { tables, row, key } = place;
  return db.write(async ({ manager }) => {
    const before = (await manager.findOneBy(tables.attempts, { ...key, listener })) as AttemptsRow | null;
    const attempts = (before?.attempts ?? 1) + 1;
    if (attempts > maxAttempts) return null;
    const tried = { attempts, lastError: endedMeanwhile };
    if (before === null) await manager.insert(tables.attempts, { ...key, listener, ...tried });
    else await manager.update(tables.attempts, { ...key, listener }, tried);
    await manager.update(tables.events, row, { lastError: `${listener}: ${endedMeanwhile}` });
    return attempts;
  }, options);
}

/**
 * Ends an announcement that did not reach every listener; those that are done are not called again.
 * @param failures the listeners that failed this time, with their errors
 * @param exhausted the listeners without further attempts, whenever that was decided
 * @param idle the listeners that had nothing to record
 */
export function endAnnouncement(
  db: Database,
  { tables, row, key }: EventPlace,
  {
    failures,
    exhausted,
    idle,
    isParked,
  }: {
    failures: ReadonlyMap<string, unknown>;
    exhausted: ReadonlySet<string>;
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
      if (exhausted.has(listener)) errors.set(listener, lastError ?? endedMeanwhile);
    for (const [listener, error] of failures) {
      errors.set(listener, messageOf(error));
      await manager.update(tables.attempts, { ...key, listener }, { lastError: messageOf(error) });
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
}

function messageOf(error: unknown): string {
  const text = error instanceof Error ? error.message : String(error);
  return text.replace(/\s+/g, ' ').slice(0, maxErrorLength);
}
