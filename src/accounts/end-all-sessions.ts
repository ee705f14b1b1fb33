import { Not } from 'typeorm';
import type { EntityManager } from 'typeorm';
import { sessionSchema } from './schema/session-schema.ts';
import { signInChallengeSchema } from './schema/sign-in-challenge-schema.ts';

/** Ends a user's sessions and pending second-factor sign-ins. @param keepSessionId except for this one */
export async function endAllSessions(
  manager: EntityManager,
  personId: string,
  keepSessionId: string | null = null,
): Promise<void> {
  await manager.delete(sessionSchema, { userId: personId, ...(keepSessionId !== null && { id: Not(keepSessionId) }) });
  await manager.delete(signInChallengeSchema, { userId: personId });
}
