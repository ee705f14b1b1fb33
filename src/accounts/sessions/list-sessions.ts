import type { AccountsDeps } from '../deps.ts';
import { sessionSchema } from '../schema/session-schema.ts';
import { sessionExpiresAt, toSession } from './session-expiry.ts';
import type { Session } from './session-expiry.ts';

/** A user's active sessions, last used first. */
export async function listSessions({ db, clock, settings }: AccountsDeps, personId: string): Promise<Session[]> {
  const rows = await db.read.find(sessionSchema, { where: { userId: personId }, order: { lastSeenAt: 'DESC' } });
  return rows.filter((row) => clock.now() < sessionExpiresAt(row, settings)).map((row) => toSession(row, settings));
}
