import { Not } from 'typeorm';
import { notFound } from '../../kernel/index.ts';
import type { AccountsDeps } from '../deps.ts';
import { hashSecret, looksLikeSecret } from '../secret.ts';
import { sessionSchema } from '../schema/session-schema.ts';

/** Ends the session of a cookie. Accepts an invalid cookie, which is already signed out. */
export async function signOut({ db }: AccountsDeps, secret: string): Promise<void> {
  if (!looksLikeSecret(secret)) return;
  await db.write(({ manager }) => manager.delete(sessionSchema, { tokenHash: hashSecret(secret) }));
}

/** Ends one of a user's own sessions. Throws `not_found`. */
export async function revokeSession({ db }: AccountsDeps, personId: string, sessionId: string): Promise<void> {
  await db.write(async ({ manager }) => {
    const { affected } = await manager.delete(sessionSchema, { id: sessionId, userId: personId });
    if (affected === 0) throw notFound('unknown_session', 'There is no such session.');
  });
}

/**
 * Ends all sessions of a user but one.
 * @param keepSessionId the session to keep; `null` ends all
 * @returns how many ended
 */
export async function revokeOtherSessions(
  { db }: AccountsDeps,
  personId: string,
  keepSessionId: string | null,
): Promise<number> {
  return db.write(async ({ manager }) => {
    const others = { userId: personId, ...(keepSessionId !== null && { id: Not(keepSessionId) }) };
    return (await manager.delete(sessionSchema, others)).affected ?? 0;
  });
}
