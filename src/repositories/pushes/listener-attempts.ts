import { IsNull } from 'typeorm';
import type { Database } from '../../db/index.ts';
import { pushListenerAttemptsSchema, pushSchema } from '../schema/push-schema.ts';

/** A listener that fails so often is broken, or this push breaks it: the push is parked. */
export const maxAttempts = 3;

/**
 * How long the last try waits for. The second one comes with the next run of the job, within
 * a minute, for what passes quickly (a lock, a process that was killed); this one outlasts a
 * busy quarter of an hour's worst part, so that load alone parks nothing.
 */
export const lastTryAfterMs = 10 * 60_000;

/** Long enough to see what is wrong; the log has the whole of it. */
const maxErrorLength = 500;

/** What is on record while a listener runs, and stays when the server ends meanwhile. */
const endedMeanwhile = 'the server ended while this listener ran';

/**
 * Writes that a try begins, so none of them is worth a sync of the disk: killing the server
 * loses no write that was made, and after a power failure one more try does no harm.
 */
const options = { durable: 'with-the-next' } as const;

/** Counts an announcement before its first listener runs. */
export function beginAnnouncement(db: Database, pushId: string, attempts: number): Promise<unknown> {
  return db.write(
    ({ manager, now }) => manager.update(pushSchema, { id: pushId }, { attempts, triedAt: now }),
    options,
  );
}

/**
 * Counts a try of one listener before it runs. A listener without a row was tried `before`
 * times: once when an announcement was begun before, because the first one notes nobody by
 * name; it nearly always succeeds.
 * @returns how often it was tried, this time included; null when it has had all its tries
 */
export function beginAttempt(db: Database, pushId: string, listener: string, before: number): Promise<number | null> {
  return db.write(async ({ manager }) => {
    const row = await manager.findOneBy(pushListenerAttemptsSchema, { pushId, listener });
    const attempts = (row?.attempts ?? before) + 1;
    if (attempts > maxAttempts) return null;
    const tried = { attempts, lastError: endedMeanwhile };
    if (row === null) await manager.insert(pushListenerAttemptsSchema, { pushId, listener, ...tried });
    else await manager.update(pushListenerAttemptsSchema, { pushId, listener }, tried);
    await manager.update(pushSchema, { id: pushId }, { lastError: `${listener}: ${endedMeanwhile}` });
    return attempts;
  }, options);
}

/**
 * Ends an announcement that did not reach everybody.
 * @param failures who failed this time, and how
 * @param exhausted who will not be tried again, whenever that was decided
 */
export function endAnnouncement(
  db: Database,
  pushId: string,
  {
    failures,
    exhausted,
    isParked,
  }: { failures: ReadonlyMap<string, unknown>; exhausted: ReadonlySet<string>; isParked: boolean },
): Promise<void> {
  return db.write(async ({ manager, now }) => {
    const errors = new Map<string, string>();
    for (const { listener, lastError } of await manager.findBy(pushListenerAttemptsSchema, { pushId }))
      if (exhausted.has(listener)) errors.set(listener, lastError ?? endedMeanwhile);
    for (const [listener, error] of failures) {
      errors.set(listener, messageOf(error));
      await manager.update(pushListenerAttemptsSchema, { pushId, listener }, { lastError: messageOf(error) });
    }
    const lastError = [...errors].map(([listener, error]) => `${listener}: ${error}`).join('; ');
    const change = { lastError: lastError.slice(0, maxErrorLength), ...(isParked ? { parkedAt: now } : {}) };
    // Another process may have been quicker, and told everybody.
    await manager.update(pushSchema, { id: pushId, announcedAt: IsNull() }, change);
  });
}

function messageOf(error: unknown): string {
  const text = error instanceof Error ? error.message : String(error);
  return text.replace(/\s+/g, ' ').slice(0, maxErrorLength);
}
