import { IsNull } from 'typeorm';
import type { Database } from '../../db/index.ts';
import { pushListenerAttemptsSchema, pushSchema } from '../schema/push-schema.ts';

/** Attempts per listener and push; then the push is parked. */
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

/** Counts an announcement before its first listener runs. */
export function beginAnnouncement(db: Database, pushId: string, attempts: number): Promise<unknown> {
  return db.write(
    ({ manager, now }) => manager.update(pushSchema, { id: pushId }, { attempts, triedAt: now }),
    options,
  );
}

/**
 * Counts an attempt of one listener before it runs. A listener without a row had `before` attempts: one when an
 * announcement was begun before, because the first announcement, which nearly always succeeds, records no listeners.
 * @returns the number of attempts, this one included; null when it has had all its attempts
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
 * Ends an announcement that did not reach every listener.
 * @param failures the listeners that failed this time, with their errors
 * @param exhausted the listeners without further attempts, whenever that was decided
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
    // A concurrent process may have notified every listener.
    await manager.update(pushSchema, { id: pushId, announcedAt: IsNull() }, change);
  });
}

function messageOf(error: unknown): string {
  const text = error instanceof Error ? error.message : String(error);
  return text.replace(/\s+/g, ' ').slice(0, maxErrorLength);
}
