import { createMessage, enums, readKey, readSignature } from 'openpgp';
import type { Key } from 'openpgp';
import { signingParts } from '../gpg-keys/subkeys.ts';
import type { KeySignature, SigningPart } from '../gpg-keys/subkeys.ts';

/** Cryptographic result of a signature and its key. */
type OpenPgpState =
  | 'good'
  | 'bad'
  | 'malformed'
  /** Made with MD5, RIPEMD-160 or SHA-1, for which collisions are known. */
  | 'weak_hash'
  /** The key cannot sign. */
  | 'not_signing'
  /** The key had expired at the time of the signature. */
  | 'key_expired'
  /** The key was revoked at the time of the signature, or is revoked as lost or stolen. */
  | 'key_revoked'
  /** The signature is dated before the key was created. */
  | 'key_too_young';

export interface OpenPgpResult {
  state: OpenPgpState;
  /** Fingerprint of the signing key or subkey; null if no part of the key matches. */
  fingerprint: string | null;
  /** Date of the signature, and its own expiry. */
  signedAt: number | null;
  endsAt: number | null;
}

interface VerifyInput {
  armored: string;
  items: { text: string; signed: Uint8Array }[];
}

/** Fields of a signature packet that are read here; some are missing in the types of the library. */
interface DataSignature extends KeySignature {
  signatureType: number;
  hashAlgorithm: number;
  issuerKeyID: { toHex(): string };
  getExpirationTime(): Date | number;
}

const weakHashes: readonly number[] = [enums.hash.md5, enums.hash.ripemd, enums.hash.sha1];

/**
 * Task of the worker pool: verifies signatures that name one key. The result depends only on the input, not on the
 * time.
 */
export async function run({ armored, items }: VerifyInput): Promise<OpenPgpResult[]> {
  const key = await readKey({ armoredKey: armored });
  const parts = await signingParts(key).catch(() => []);
  const results: OpenPgpResult[] = [];
  for (const item of items) results.push(await verify(key, parts, item));
  return results;
}

async function verify(
  key: Key,
  parts: readonly SigningPart[],
  { text, signed }: VerifyInput['items'][number],
): Promise<OpenPgpResult> {
  const signature = await readOne(text);
  if (signature?.created == null) return { state: 'malformed', fingerprint: null, signedAt: null, endsAt: null };
  const keyId = signature.issuerKeyID.toHex().toUpperCase();
  const ends = signature.getExpirationTime();
  const named = { signedAt: signature.created.getTime(), endsAt: ends instanceof Date ? ends.getTime() : null };
  const part = parts.find((one) => one.keyId === keyId);
  if (part === undefined) {
    const unfit = [key, ...key.subkeys].find((one) => one.getKeyID().toHex().toUpperCase() === keyId);
    const fingerprint = unfit?.getFingerprint().toUpperCase() ?? null;
    return { state: 'not_signing', fingerprint, ...named };
  }
  const known = { fingerprint: part.fingerprint, ...named };
  if (weakHashes.includes(signature.hashAlgorithm)) return { state: 'weak_hash', ...known };
  const literal = (await createMessage({ binary: signed })).packets[0]!;
  try {
    await signature.verify(part.packet, signature.signatureType, literal, null, true);
  } catch {
    return { state: 'bad', ...known };
  }
  return { state: await validity(part, signature.created), ...known };
}

/** The only signature packet of the text, over a document; null for anything else. */
async function readOne(text: string): Promise<DataSignature | null> {
  try {
    const { packets } = await readSignature({ armoredSignature: text });
    const [packet] = packets as unknown as DataSignature[];
    if (packets.length !== 1 || packet === undefined) return null;
    return packet.signatureType === enums.signature.binary || packet.signatureType === enums.signature.text
      ? packet
      : null;
  } catch {
    return null;
  }
}

async function validity(part: SigningPart, at: Date): Promise<OpenPgpState> {
  if (await part.wasRevokedAt(at)) return 'key_revoked';
  if (at.getTime() < part.createdAt) return 'key_too_young';
  return part.expiresAt !== null && at.getTime() >= part.expiresAt ? 'key_expired' : 'good';
}
