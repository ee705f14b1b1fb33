import type { EntityManager } from 'typeorm';
import type { Tx } from '../../db/index.ts';
import { invalid } from '../../kernel/index.ts';
import type { AccountsDeps } from '../deps.ts';
import { hashSecret, looksLikeSecret, newSecret } from '../secret.ts';
import type { SignInMethod } from '../schema/session-schema.ts';
import { signInChallengeSchema } from '../schema/sign-in-challenge-schema.ts';
import type { SignInChallengeRow } from '../schema/sign-in-challenge-schema.ts';

/** Limit of pending sign-ins per user; the oldest ones beyond it end. */
const maxOpenPerPerson = 10;

/** Records that a user has proved their identity by one means. @returns the secret for the browser's cookie */
export async function insertChallenge(
  { random, settings }: AccountsDeps,
  { manager, now }: Tx,
  personId: string,
  method: SignInMethod,
): Promise<string> {
  const secret = newSecret(random);
  const surplus = await manager.find(signInChallengeSchema, {
    where: { userId: personId },
    order: { createdAt: 'DESC' },
    skip: maxOpenPerPerson - 1,
    take: maxOpenPerPerson,
  });
  for (const { tokenHash } of surplus) await manager.delete(signInChallengeSchema, { tokenHash });
  await manager.insert(signInChallengeSchema, {
    tokenHash: hashSecret(secret),
    userId: personId,
    method,
    attempts: 0,
    createdAt: now,
    expiresAt: now + settings.challengeLifetimeMs,
  });
  return secret;
}

/** The pending sign-in of a cookie, with attempts left; null otherwise. */
export async function findChallenge(
  manager: EntityManager,
  { settings, clock }: Pick<AccountsDeps, 'settings' | 'clock'>,
  secret: unknown,
): Promise<SignInChallengeRow | null> {
  if (!looksLikeSecret(secret)) return null;
  const row = await manager.findOneBy(signInChallengeSchema, { tokenHash: hashSecret(secret) });
  return row !== null && clock.now() < row.expiresAt && row.attempts < settings.challengeAttempts ? row : null;
}

/** The error of a second step without a pending first one. */
export const challengeClosed = () =>
  invalid('sign_in_expired', 'This sign-in took too long, or had too many wrong codes. Start again.');
