import { enums } from 'openpgp';
import type { Key, Subkey } from 'openpgp';

/** Fields of a signature packet that determine the validity of a key; some are missing in the types of the library. */
export interface KeySignature {
  created: Date | null;
  keyFlags: Uint8Array | null;
  keyNeverExpires: boolean | null;
  keyExpirationTime: number | null;
  embeddedSignature: KeySignature | null;
  verify(key: unknown, type: number, data: object, date: Date | null, detached?: boolean): Promise<void>;
}

/** A key or subkey that can sign, with the validity given by its newest signature of the primary key. */
export interface SigningPart {
  packet: Key['keyPacket'];
  keyId: string;
  fingerprint: string;
  /** Milliseconds since the epoch. */
  createdAt: number;
  /** Null if it never expires. */
  expiresAt: number | null;
  /** Whether it was revoked at a time: a lost or stolen key was never valid, a replaced one until its revocation. */
  wasRevokedAt(date: Date): Promise<boolean>;
}

const maySign = (flags: Uint8Array | null): boolean =>
  flags === null || ((flags[0] ?? 0) & enums.keyFlags.signData) !== 0;

/** DSA, and RSA below 2048 bits, are unsafe; GnuPG has created neither by default since 2009. */
export function isWeak(packet: Key['keyPacket']): boolean {
  const { algorithm, bits } = packet.getAlgorithmInfo();
  return algorithm === 'dsa' || algorithm === 'elgamal' || (algorithm.startsWith('rsa') && (bits ?? 0) < 2047);
}

/**
 * The parts of a key that can sign, primary key first. Uses the current self-signatures instead of those at a date:
 * extending a key replaces them, and earlier signatures stay valid.
 */
export async function signingParts(key: Key): Promise<SigningPart[]> {
  const parts: SigningPart[] = [];
  const own = await primaryPart(key);
  if (own !== null) parts.push(own);
  for (const subkey of key.subkeys) {
    const part = await subkeyPart(key, subkey);
    if (part !== null) parts.push(part);
  }
  return parts;
}

/** Expiry of the whole key; null if it never expires. Throws if no user id is certified. */
export async function expiryOf(key: Key): Promise<number | null> {
  const at = await key.getExpirationTime();
  if (at === null) throw new Error('no valid self-signature');
  return at instanceof Date ? at.getTime() : null;
}

async function primaryPart(key: Key): Promise<SigningPart | null> {
  const packet = key.keyPacket;
  const { selfCertification } = (await key.getPrimaryUser(null as never)) as unknown as {
    selfCertification: KeySignature;
  };
  if (isWeak(packet) || !maySign(selfCertification.keyFlags)) return null;
  return {
    packet,
    ...namesOf(key),
    createdAt: key.getCreationTime().getTime(),
    expiresAt: await expiryOf(key),
    wasRevokedAt: (date) => key.isRevoked(undefined, undefined, date),
  };
}

/** A subkey can sign if both halves agree: the primary key binds it, and it signs the primary key in return. */
async function subkeyPart(key: Key, subkey: Subkey): Promise<SigningPart | null> {
  const packet = subkey.keyPacket;
  const data = { key: key.keyPacket, bind: packet };
  const bindings = subkey.bindingSignatures as unknown as KeySignature[];
  const binding = await newestValid(bindings, key.keyPacket, enums.signature.subkeyBinding, data);
  if (binding === null || isWeak(packet as never) || binding.keyFlags === null || !maySign(binding.keyFlags))
    return null;
  const back = binding.embeddedSignature;
  if (back === null || (await newestValid([back], packet, enums.signature.keyBinding, data)) === null) return null;
  const createdAt = subkey.getCreationTime().getTime();
  const ends = binding.keyNeverExpires === false ? createdAt + (binding.keyExpirationTime ?? 0) * 1_000 : null;
  const primaryEnds = await expiryOf(key);
  return {
    packet: packet as never,
    ...namesOf(subkey),
    createdAt,
    expiresAt: ends === null ? primaryEnds : primaryEnds === null ? ends : Math.min(ends, primaryEnds),
    wasRevokedAt: async (date) =>
      (await key.isRevoked(undefined, undefined, date)) ||
      (await subkey.isRevoked(undefined as never, undefined as never, date)),
  };
}

async function newestValid(
  signatures: readonly KeySignature[],
  signer: unknown,
  type: number,
  data: object,
): Promise<KeySignature | null> {
  let newest: KeySignature | null = null;
  for (const signature of signatures) {
    if (newest !== null && Number(signature.created) <= Number(newest.created)) continue;
    const isValid = await signature.verify(signer, type, data, null).then(
      () => true,
      () => false,
    );
    if (isValid) newest = signature;
  }
  return newest;
}

export const namesOf = (key: Key | Subkey): { keyId: string; fingerprint: string } => ({
  keyId: key.getKeyID().toHex().toUpperCase(),
  fingerprint: key.getFingerprint().toUpperCase(),
});
