import type { PersonViewer } from '../../access/index.ts';
import { toPerson } from '../person.ts';
import type { Person } from '../person.ts';
import type { AccountsDeps } from '../deps.ts';
import { hashSecret, looksLikeSecret } from '../secret.ts';
import { sessionSchema } from '../schema/session-schema.ts';
import { userSchema } from '../schema/user-schema.ts';
import { sessionExpiresAt, toSession } from './session-expiry.ts';
import type { Session } from './session-expiry.ts';

export interface SessionViewer {
  viewer: PersonViewer;
  person: Person;
  session: Session;
}

/**
 * The user of a session cookie. `null` if it is unknown or expired, or the account is disabled. Records the use in the
 * background.
 */
export async function viewerOfSession(
  { db, clock, settings, lastUse }: AccountsDeps,
  secret: string,
  { address }: { address: string | null },
): Promise<SessionViewer | null> {
  if (!looksLikeSecret(secret)) return null;
  const [row] = await db.lookup(sessionSchema, { tokenHash: hashSecret(secret) });
  if (row === undefined || clock.now() >= sessionExpiresAt(row, settings)) return null;
  const [user] = await db.lookup(userSchema, { id: row.userId });
  if (user === undefined || user.disabledAt !== null) return null;

  lastUse.record({ kind: 'session', id: row.id, personId: user.id, address, lastUsedAt: row.lastSeenAt });
  return {
    viewer: {
      kind: 'person',
      id: user.id,
      username: user.username,
      isAdministrator: user.isAdministrator,
      via: 'session',
      scope: 'admin',
      repositoryIds: null,
    },
    person: toPerson(user),
    session: toSession(row, settings),
  };
}
