import { createHmac, timingSafeEqual } from 'node:crypto';
import type { Tx } from '../../db/index.ts';
import type { AccountsDeps } from '../deps.ts';
import { hashSecret } from '../secret.ts';
import { usedPasskeyChallengeSchema } from '../schema/passkey-schema.ts';

/** Purpose of a challenge. Responses for another purpose are rejected. */
type PasskeyPurpose = 'register' | 'sign_in' | 'second_factor' | 'confirm';

/** Binding of a challenge: a purpose, and the secret of the browser's cookie or the id of its session. */
export interface PasskeyBinding {
  purpose: PasskeyPurpose;
  holder: string;
}

const nonceBytes = 16;
const timeBytes = 8;
const macBytes = 32;
const lifetimeMs = 10 * 60_000;

type ChallengeDeps = Pick<AccountsDeps, 'instanceKey' | 'random' | 'clock'>;

/**
 * A challenge that contains its expiry and a keyed digest over its binding, so that a page with a passkey button writes
 * nothing. Valid for ten minutes.
 */
export function newPasskeyChallenge(deps: ChallengeDeps, binding: PasskeyBinding): Buffer {
  const time = Buffer.alloc(timeBytes);
  time.writeBigInt64BE(BigInt(deps.clock.now() + lifetimeMs));
  const head = Buffer.concat([deps.random.bytes(nonceBytes), time]);
  return Buffer.concat([head, macOf(deps, binding, head)]);
}

/** Whether a challenge, as base64url, was issued here for this purpose and browser, and has not expired. */
export function isOpenChallenge(deps: ChallengeDeps, binding: PasskeyBinding, challenge: string): boolean {
  const bytes = Buffer.from(challenge, 'base64url');
  if (bytes.length !== nonceBytes + timeBytes + macBytes) return false;
  const head = bytes.subarray(0, nonceBytes + timeBytes);
  if (!timingSafeEqual(bytes.subarray(head.length), macOf(deps, binding, head))) return false;
  return deps.clock.now() < Number(head.readBigInt64BE(nonceBytes));
}

/**
 * Accepts one response to a challenge: the row rejects every further one for the lifetime of the challenge.
 * @returns whether it is the first
 */
export async function useChallenge({ manager, now }: Tx, challenge: string): Promise<boolean> {
  const challengeHash = hashSecret(challenge);
  if (await manager.existsBy(usedPasskeyChallengeSchema, { challengeHash })) return false;
  await manager.insert(usedPasskeyChallengeSchema, { challengeHash, expiresAt: now + lifetimeMs });
  return true;
}

function macOf({ instanceKey }: ChallengeDeps, { purpose, holder }: PasskeyBinding, head: Buffer): Buffer {
  const bound = JSON.stringify([purpose, holder]);
  return createHmac('sha256', instanceKey.for('passkey challenges')).update(head).update(bound).digest();
}
