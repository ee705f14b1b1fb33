import { LessThan, MoreThan } from 'typeorm';
import type { Tx } from '../../db/index.ts';
import { invalid } from '../../kernel/index.ts';
import type { AccountsDeps } from '../deps.ts';
import { totpSecretSchema } from '../schema/second-factor-schema.ts';
import type { SecondFactor } from '../schema/session-schema.ts';
import { signInChallengeSchema } from '../schema/sign-in-challenge-schema.ts';
import type { SignInChallengeRow } from '../schema/sign-in-challenge-schema.ts';
import { userSchema } from '../schema/user-schema.ts';
import { announceSecurityEvent } from '../security-events.ts';
import { openSession } from '../sessions/complete-sign-in.ts';
import type { SignedIn } from '../sessions/complete-sign-in.ts';
import { challengeClosed, findChallenge } from '../sessions/sign-in-challenges.ts';
import type { SessionOrigin } from '../sessions/start-session.ts';
import { countRecoveryCodes, parseRecoveryCode, useRecoveryCode } from './recovery-codes.ts';
import { matchingStep, parseTotpCode } from './totp.ts';
import { decryptTotpSecret, useStep } from './totp-secret.ts';

interface CodeAnswer extends SessionOrigin {
  /** The secret of the browser's cookie. */
  challenge: string | null;
  /** A code of the app or a recovery code, as typed. */
  code: string;
}

/**
 * The second step of a sign-in: consumes a right code and opens the session.
 *
 * Throws `wrong_code` with field `code`; `sign_in_expired` without a pending first step, and after too many wrong
 * codes; `too_many_tries` (unavailable); `account_disabled`.
 */
export async function answerChallenge(
  deps: AccountsDeps,
  { challenge, code: typed, ...origin }: CodeAnswer,
): Promise<SignedIn> {
  const open = await findChallenge(deps.db.read, deps, challenge);
  if (open === null) throw challengeClosed();
  const [totp, recovery] = [parseTotpCode(typed), parseRecoveryCode(typed)];
  if (totp === null && recovery === null)
    throw invalid('wrong_code', 'Enter the six-digit code from the app, or a sixteen-character recovery code.', {
      field: 'code',
    });
  const attempt = { personId: open.userId, address: origin.address };
  await deps.codeRateLimit.refuseExhausted(attempt, totp !== null);

  const signedIn = await deps.db.write((tx) =>
    finishChallenge(deps, tx, open, origin, async () => {
      if (totp !== null) return (await useTotp(deps, tx, open.userId, totp)) ? 'totp' : null;
      return (await useRecovery(deps, tx, open.userId, recovery!)) ? 'recovery' : null;
    }),
  );
  if (signedIn !== null) return signedIn;
  await deps.codeRateLimit.countWrong(attempt);
  deps.logger.warn('sign_in.wrong_code', { personId: open.userId, address: origin.address });
  throw invalid('wrong_code', 'This code is wrong or has already been used. Wait for the next code in the app.', {
    field: 'code',
  });
}

/**
 * Counts an answer to a challenge; if it is right, ends the challenge and opens the session.
 * @param use checks and consumes the answer; null for a wrong one
 * @returns null for a wrong answer, which stays counted; the last one notifies the user
 *
 * Throws `sign_in_expired`, `account_disabled`.
 */
export async function finishChallenge(
  deps: AccountsDeps,
  tx: Tx,
  { tokenHash, userId, method, attempts }: SignInChallengeRow,
  origin: SessionOrigin,
  use: () => Promise<SecondFactor | null>,
): Promise<SignedIn | null> {
  const { manager, now } = tx;
  const counted = await manager.increment(
    signInChallengeSchema,
    { tokenHash, attempts: LessThan(deps.settings.challengeAttempts), expiresAt: MoreThan(now) },
    'attempts',
    1,
  );
  if (counted.affected !== 1) throw challengeClosed();
  const factor = await use();
  if (factor === null) {
    const { address, userAgent } = origin;
    if (attempts + 1 >= deps.settings.challengeAttempts)
      await announceSecurityEvent(deps, tx, userId, { kind: 'wrong_codes', address, userAgent });
    return null;
  }
  const person = await manager.findOneBy(userSchema, { id: userId });
  if (person === null) throw challengeClosed();
  await manager.delete(signInChallengeSchema, { tokenHash });
  return openSession(deps, tx, person, origin, { method, factor });
}

async function useTotp(deps: AccountsDeps, { manager, now }: Tx, personId: string, code: string): Promise<boolean> {
  const row = await manager.findOneBy(totpSecretSchema, { userId: personId });
  const secret = row?.enabledAt == null ? null : decryptTotpSecret(deps, row);
  if (row === null || secret === null) return false;
  const step = matchingStep(secret, code, { now, lastStep: row.lastStep });
  return step !== null && useStep(manager, personId, step);
}

async function useRecovery(deps: AccountsDeps, tx: Tx, personId: string, code: string): Promise<boolean> {
  if (!(await useRecoveryCode(tx, personId, code))) return false;
  const left = await countRecoveryCodes(tx.manager, personId);
  await announceSecurityEvent(deps, tx, personId, { kind: 'recovery_code_used', left });
  return true;
}
