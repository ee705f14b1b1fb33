import type { PublicKeyCredentialRequestOptionsJSON } from '@simplewebauthn/server';
import type { Tx } from '../../db/index.ts';
import type { AccountsDeps } from '../deps.ts';
import { passkeySchema } from '../schema/passkey-schema.ts';
import type { PasskeyRow } from '../schema/passkey-schema.ts';
import { isOpenChallenge, newPasskeyChallenge, useChallenge } from './passkey-challenge.ts';
import type { PasskeyBinding } from './passkey-challenge.ts';
import { challengeIn, passkeyRefused, readAssertion } from './read-response.ts';
import { passkeysUnavailable, relyingPartyOf } from '../relying-party.ts';

/**
 * Options for a browser to request a passkey.
 * @param personId its owner; null lets the user choose among all passkeys that the browser has for this server
 *
 * Throws `passkeys_unavailable` (conflict).
 */
export async function askForPasskey(
  deps: AccountsDeps,
  binding: PasskeyBinding,
  personId: string | null,
): Promise<PublicKeyCredentialRequestOptionsJSON> {
  const party = relyingPartyOf(deps.baseUrl);
  if (party === null) throw passkeysUnavailable();
  const known = personId === null ? [] : await deps.db.read.findBy(passkeySchema, { userId: personId });
  const { generateAuthenticationOptions } = await import('@simplewebauthn/server');
  return generateAuthenticationOptions({
    rpID: party.id,
    challenge: Uint8Array.from(newPasskeyChallenge(deps, binding)),
    userVerification: 'required',
    allowCredentials: known.map(({ credentialId, transports }) => ({
      id: credentialId,
      transports: transports.split(',').filter((each) => each !== ''),
    })),
  });
}

/** A response with a valid signature. It takes effect once `usePasskey` has consumed it. */
interface CheckedPasskey {
  personId: string;
  row: PasskeyRow;
  challenge: string;
  counter: number;
  isSynced: boolean;
}

/**
 * Checks a passkey response: challenge, origin, host, signature, user verification, and an increasing counter (a
 * decreasing one means that the passkey was copied).
 * @param personId its required owner; null for any user
 *
 * Throws `passkey_refused` (invalid), with the reason in the log; `passkeys_unavailable` (conflict).
 */
export async function checkPasskey(
  deps: AccountsDeps,
  binding: PasskeyBinding,
  personId: string | null,
  text: string,
): Promise<CheckedPasskey> {
  const { db, logger } = deps;
  const party = relyingPartyOf(deps.baseUrl);
  if (party === null) throw passkeysUnavailable();
  const response = await readAssertion(text);
  const row = await db.read.findOneBy(passkeySchema, { credentialId: response.id });
  if (row === null || (personId !== null && row.userId !== personId)) throw passkeyRefused();
  const { userHandle } = response.response;
  if (userHandle !== undefined && Buffer.from(userHandle, 'base64url').toString() !== row.userId)
    throw passkeyRefused();

  const { verifyAuthenticationResponse } = await import('@simplewebauthn/server');
  const verified = await verifyAuthenticationResponse({
    response,
    expectedChallenge: (challenge) => isOpenChallenge(deps, binding, challenge),
    expectedOrigin: party.origin,
    expectedRPID: party.id,
    requireUserVerification: true,
    credential: {
      id: row.credentialId,
      publicKey: Uint8Array.from(Buffer.from(row.publicKey, 'base64url')),
      counter: row.counter,
    },
  }).catch((error: unknown) => {
    logger.warn('passkey.refused', { personId: row.userId, passkeyId: row.id, cause: error });
    return null;
  });
  if (verified?.verified !== true) throw passkeyRefused();
  const { newCounter, credentialBackedUp } = verified.authenticationInfo;
  const challenge = challengeIn(response.response.clientDataJSON);
  return { personId: row.userId, row, challenge, counter: newCounter, isSynced: credentialBackedUp };
}

/** Consumes a checked response. @returns false if the same response, or a later one of the passkey, came first */
export async function usePasskey(tx: Tx, { row, challenge, counter, isSynced }: CheckedPasskey): Promise<boolean> {
  if (!(await useChallenge(tx, challenge))) return false;
  const { affected } = await tx.manager.update(
    passkeySchema,
    { id: row.id, counter: row.counter },
    { counter, isSynced, lastUsedAt: tx.now },
  );
  return affected === 1;
}
