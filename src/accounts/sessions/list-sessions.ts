import type { AccountsRoom } from '../room.ts';
import { sessionSchema } from '../session-schema.ts';
import { sessionEnd, toSession } from './session-life.ts';
import type { Session } from './session-life.ts';

/** Where a person is signed in, the last used first. Sessions that have ended are left out. */
export async function listSessions({ db, clock, settings }: AccountsRoom, personId: string): Promise<Session[]> {
  const rows = await db.read.find(sessionSchema, { where: { userId: personId }, order: { lastSeenAt: 'DESC' } });
  return rows.filter((row) => clock.now() < sessionEnd(row, settings)).map((row) => toSession(row, settings));
}
