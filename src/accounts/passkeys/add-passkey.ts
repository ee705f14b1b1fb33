import type { PublicKeyCredentialCreationOptionsJSON } from '@simplewebauthn/server';
import { conflict, invalid } from '../../kernel/index.ts';
import type { AccountsDeps } from '../deps.ts';
import { noSuchPerson } from '../people/find-people.ts';
import { passkeySchema } from '../schema/passkey-schema.ts';
import type { PasskeyRow } from '../schema/passkey-schema.ts';
import { userSchema } from '../schema/user-schema.ts';
import { recordFactorAdded } from '../second-factor/record-factor-change.ts';
import { announceSecurityEvent } from '../security-events.ts';
import { parseText } from '../validate-text.ts';
import { isOpenChallenge, newPasskeyChallenge, useChallenge } from './passkey-challenge.ts';
import { toPasskey } from './passkey.ts';
import type { Passkey } from './passkey.ts';
import { challengeIn, passkeyRefused, readRegistration } from './read-response.ts';
import { passkeysUnavailable, relyingPartyOf } from '../relying-party.ts';

const nameRule = { field: 'name', called: 'The name', maxCharacters: 100 };

/**
 * Options for a browser to create a passkey. Every passkey is discoverable and verifies its user (by PIN, finger or
 * face), so it can replace a password. Requests no attestation: it would reveal the make of the authenticator, which is
 * irrelevant here.
 *
 * Throws `passkeys_unavailable` (conflict), `too_many_passkeys` (conflict), `unknown_person`.
 */
export async function beginPasskey(
  deps: AccountsDeps,
  personId: string,
  sessionId: string,
): Promise<PublicKeyCredentialCreationOptionsJSON> {
  const { db, settings } = deps;
  const party = relyingPartyOf(deps.baseUrl);
  if (party === null) throw passkeysUnavailable();
  const person = await db.read.findOneBy(userSchema, { id: personId });
  if (person === null) throw noSuchPerson();
  const known = await db.read.findBy(passkeySchema, { userId: personId });
  if (known.length >= settings.maxPasskeysPerPerson) throw tooManyPasskeys(settings.maxPasskeysPerPerson);
  const { generateRegistrationOptions } = await import('@simplewebauthn/server');
  return generateRegistrationOptions({
    rpName: party.id,
    rpID: party.id,
    userID: Uint8Array.from(Buffer.from(personId)),
    userName: person.username ?? '',
    userDisplayName: person.displayName,
    challenge: Uint8Array.from(newPasskeyChallenge(deps, { purpose: 'register', holder: sessionId })),
    attestationType: 'none',
    excludeCredentials: known.map(({ credentialId, transports }) => ({
      id: credentialId,
      transports: transports.split(',').filter((each) => each !== ''),
    })),
    authenticatorSelection: { residentKey: 'required', userVerification: 'required' },
    supportedAlgorithmIDs: [-8, -7, -257],
  });
}

interface NewPasskey {
  name: string;
  /** The browser's response, as JSON. */
  response: string;
  /** The session whose page requested it. */
  sessionId: string;
}

/**
 * Stores a passkey created by a browser. @returns it, and recovery codes to show once if it is the first factor
 *
 * Throws the errors of the rules of texts; `name_missing`; `passkey_refused` (invalid) for a wrong origin, host,
 * challenge or signature, and without user verification; `passkey_taken`, `too_many_passkeys`, `passkeys_unavailable`
 * (conflict).
 */
export async function addPasskey(
  deps: AccountsDeps,
  personId: string,
  input: NewPasskey,
): Promise<{ passkey: Passkey; recoveryCodes: string[] | null }> {
  const { db, random, settings, logger } = deps;
  const party = relyingPartyOf(deps.baseUrl);
  if (party === null) throw passkeysUnavailable();
  const name = parseText(input.name, nameRule);
  if (name === '') throw invalid('name_missing', 'Enter a name for the passkey.', { field: 'name' });
  const response = await readRegistration(input.response);
  const challenge = challengeIn(response.response.clientDataJSON);
  const { verifyRegistrationResponse } = await import('@simplewebauthn/server');
  const verified = await verifyRegistrationResponse({
    response,
    expectedChallenge: (text) => isOpenChallenge(deps, { purpose: 'register', holder: input.sessionId }, text),
    expectedOrigin: party.origin,
    expectedRPID: party.id,
    requireUserVerification: true,
    supportedAlgorithmIDs: [-8, -7, -257],
  }).catch((error: unknown) => {
    logger.info('passkey.refused', { personId, cause: error });
    return { verified: false as const };
  });
  if (!verified.verified) throw passkeyRefused();
  const { credential, credentialBackedUp } = verified.registrationInfo;

  return db.write(async (tx) => {
    const { manager, now } = tx;
    if (!(await useChallenge(tx, challenge))) throw passkeyRefused();
    if ((await manager.countBy(passkeySchema, { userId: personId })) >= settings.maxPasskeysPerPerson)
      throw tooManyPasskeys(settings.maxPasskeysPerPerson);
    if (await manager.existsBy(passkeySchema, { credentialId: credential.id }))
      throw conflict('passkey_taken', 'This passkey is already registered.');
    const row: PasskeyRow = {
      id: random.uuid(),
      userId: personId,
      credentialId: credential.id,
      publicKey: Buffer.from(credential.publicKey).toString('base64url'),
      counter: credential.counter,
      transports: (credential.transports ?? []).join(','),
      isSynced: credentialBackedUp,
      name,
      createdAt: now,
      lastUsedAt: null,
    };
    await manager.insert(passkeySchema, row);
    await announceSecurityEvent(deps, tx, personId, { kind: 'second_factor_added', factor: 'passkey', name });
    return { passkey: toPasskey(row), recoveryCodes: await recordFactorAdded(deps, tx, personId) };
  });
}

const tooManyPasskeys = (limit: number) =>
  conflict('too_many_passkeys', `You already have ${limit} passkeys. Remove one first.`);
