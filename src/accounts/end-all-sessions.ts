import { Not } from 'typeorm';
import type { EntityManager } from 'typeorm';
import { sessionSchema } from './schema/session-schema.ts';
import { signInChallengeSchema } from './schema/sign-in-challenge-schema.ts';

/** Ends the sessions of a person, and the sign-ins that wait for a second factor. @param keepSessionId not this one */
export async function endAllSessions(
  manager: EntityManager,
  personId: string,
  keepSessionId: string | null = null,
): Promise<void> {
  await manager.delete(sessionSchema, { userId: personId, ...(keepSessionId !== null && { id: Not(keepSessionId) }) });
  await manager.delete(signInChallengeSchema, { userId: personId });
}
