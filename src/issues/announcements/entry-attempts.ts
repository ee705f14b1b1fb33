import { IsNull } from 'typeorm';
import type { Database } from '../../db/index.ts';
import { entryListenerAttemptsSchema, entrySchema } from '../schema/entry-schema.ts';

/** Which entry. */
export interface EntryPlace {
  issueId: string;
  position: number;
}

/** A listener that fails so often is broken, or this entry breaks it: the entry is parked. */
export const maxAttempts = 3;

/** How long the second try waits: the first may still be under way in another process. */
export const secondTryAfterMs = 30_000;

/** How long the last try waits for, so that load alone parks nothing. */
export const lastTryAfterMs = 10 * 60_000;

/** Long enough to see what is wrong; the log has the whole of it. */
const maxErrorLength = 500;

/** What is on record while a listener runs, and stays when the server ends meanwhile. */
const endedMeanwhile = 'the server ended while this listener ran';

/** A try is worth no sync of the disk: after a power failure one more does no harm. */
const options = { durable: 'with-the-next' } as const;

/** Counts an announcement before its first listener runs. */
export function beginAnnouncement(db: Database, place: EntryPlace, attempts: number): Promise<unknown> {
  return db.write(({ manager, now }) => manager.update(entrySchema, { ...place }, { attempts, triedAt: now }), options);
}

/**
 * Counts a try of one listener before it runs, so that one that crashes the server is known by name. A listener
 * without a row was tried once, by the first announcement, which records no listener by name.
 * @returns how often it was tried, this time included; null when it has had all its tries
 */
export function beginAttempt(
  db: Database,
  { issueId, position }: EntryPlace,
  listener: string,
): Promise<number | null> {
  const key = { issueId, position, listener };
  return db.write(async ({ manager }) => {
    const row = await manager.findOneBy(entryListenerAttemptsSchema, key);
    const attempts = (row?.attempts ?? 1) + 1;
    if (attempts > maxAttempts) return null;
    const tried = { attempts, lastError: endedMeanwhile };
    if (row === null) await manager.insert(entryListenerAttemptsSchema, { ...key, ...tried });
    else await manager.update(entryListenerAttemptsSchema, key, tried);
    return attempts;
  }, options);
}

/**
 * Ends an announcement that did not reach everybody: notes how each failed, and parks the entry when nobody is left
 * to try.
 */
export function endAnnouncement(
  db: Database,
  { issueId, position }: EntryPlace,
  { failures, isParked }: { failures: ReadonlyMap<string, unknown>; isParked: boolean },
): Promise<void> {
  return db.write(async ({ manager, now }) => {
    for (const [listener, error] of failures)
      await manager.update(
        entryListenerAttemptsSchema,
        { issueId, position, listener },
        { lastError: messageOf(error) },
      );
    const lastError = [...failures].map(([listener, error]) => `${listener}: ${messageOf(error)}`).join('; ');
    await manager.update(
      entrySchema,
      { issueId, position, announcedAt: IsNull() },
      {
        ...(lastError === '' ? {} : { lastError: lastError.slice(0, maxErrorLength) }),
        parkedAt: isParked ? now : null,
      },
    );
  });
}

const messageOf = (error: unknown): string =>
  (error instanceof Error ? error.message : String(error)).slice(0, maxErrorLength);
