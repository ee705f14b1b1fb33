import { IsNull, LessThanOrEqual } from 'typeorm';
import { oneTimeLinkSchema } from './schema/one-time-link-schema.ts';
import { inviteSchema } from './schema/invite-schema.ts';
import type { AccountsDeps } from './deps.ts';
import { sessionSchema } from './schema/session-schema.ts';
import { signInChallengeSchema } from './schema/sign-in-challenge-schema.ts';
import { usedPasskeyChallengeSchema } from './schema/passkey-schema.ts';
import { setupTokenSchema } from './schema/setup-token-schema.ts';
import { signInLinkSchema } from './schema/sign-in-link-schema.ts';

/**
 * Deletes expired sessions, unfinished sign-ins, setup tokens, links and unused invitations. Expired access tokens
 * stay in their owner's list.
 * @returns the number of deleted rows
 */
export async function removeExpired({ db, settings }: AccountsDeps): Promise<number> {
  return db.write(async ({ manager, now }) => {
    const expiresAt = LessThanOrEqual(now);
    const removed = [
      await manager.delete(sessionSchema, { expiresAt }),
      await manager.delete(sessionSchema, { lastSeenAt: LessThanOrEqual(now - settings.sessionIdleMs) }),
      await manager.delete(setupTokenSchema, { expiresAt }),
      await manager.delete(inviteSchema, { expiresAt, usedAt: IsNull() }),
      await manager.delete(oneTimeLinkSchema, { expiresAt }),
      await manager.delete(signInChallengeSchema, { expiresAt }),
      await manager.delete(usedPasskeyChallengeSchema, { expiresAt }),
      await manager.delete(signInLinkSchema, { expiresAt }),
    ];
    return removed.reduce((sum, { affected }) => sum + (affected ?? 0), 0);
  });
}
