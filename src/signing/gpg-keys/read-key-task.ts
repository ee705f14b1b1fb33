import { readKeys } from 'openpgp';
import type { Key } from 'openpgp';
import { expiryOf, isWeak, namesOf, signingParts } from './subkeys.ts';
import type { KeyProblem, ReadKeyResult } from './parsed-key.ts';

/** Limits set by the caller. */
interface ReadKeyInput {
  armored: string;
  maxUserIds: number;
  maxSubkeys: number;
  maxStoredBytes: number;
}

/** Task of the worker pool: reads an OpenPGP public key submitted by a user. */
export async function run({ armored, maxUserIds, maxSubkeys, maxStoredBytes }: ReadKeyInput): Promise<ReadKeyResult> {
  const refuse = (problem: KeyProblem): ReadKeyResult => ({ ok: false, problem });
  const keys = await readKeys({ armoredKeys: armored }).catch(() => []);
  const [key] = keys;
  if (key === undefined) return refuse('unreadable');
  if (keys.length > 1) return refuse('several');
  if (key.isPrivate()) return refuse('private');
  if (key.users.length > maxUserIds) return refuse('too_many_user_ids');
  if (key.subkeys.length > maxSubkeys) return refuse('too_many_subkeys');

  keepOwnPackets(key);
  const certified = await certifiedUserIds(key);
  if (certified.length === 0) return refuse('no_user_id');
  if (isWeak(key.keyPacket)) return refuse('weak');
  const signers = await signingParts(key).catch(() => []);
  if (signers.length === 0) return refuse('cannot_sign');
  const stored = key.armor();
  if (stored.length > maxStoredBytes) return refuse('too_large');
  return {
    ok: true,
    key: {
      ...namesOf(key),
      armored: stored,
      algorithm: nameOf(key),
      userIds: certified.map(({ text }) => text),
      addresses: [...new Set(certified.flatMap(({ address }) => address ?? []))],
      signers: signers.map(({ keyId, fingerprint }) => ({ keyId, fingerprint })),
      createdAt: key.getCreationTime().getTime(),
      expiresAt: await expiryOf(key),
      revoked: await key.isRevoked(),
    },
  };
}

/** Removes certifications by others, and photographs: they say nothing about the key and may have any size. */
function keepOwnPackets(key: Key): void {
  key.users = key.users.filter(({ userID }) => userID !== null);
  for (const user of key.users) user.otherCertifications = [];
}

/** User ids that the key itself currently certifies. */
async function certifiedUserIds(key: Key): Promise<{ text: string; address: string | null }[]> {
  const found: { text: string; address: string | null }[] = [];
  for (const user of key.users) {
    const isCertified = await user.verify(null as never).then(
      () => true,
      () => false,
    );
    if (!isCertified || user.userID === null) continue;
    const text = user.userID.userID.slice(0, 500).toWellFormed();
    found.push({ text, address: addressIn(text) ?? (user.userID.email || null) });
  }
  return found;
}

/** Parses `Name (comment) <address>`, or an address alone. */
function addressIn(userId: string): string | null {
  const inside =
    /<([^<>\s]{3,254})>\s*$/.exec(userId)?.[1] ?? (/^[^\s<>]{1,250}@[^\s<>@]+$/.test(userId) ? userId : null);
  return inside?.includes('@') === true ? inside : null;
}

const curveNames: Readonly<Record<string, string>> = {
  ed25519Legacy: 'Ed25519',
  ed25519: 'Ed25519',
  ed448: 'Ed448',
  nistP256: 'ECDSA P-256',
  nistP384: 'ECDSA P-384',
  nistP521: 'ECDSA P-521',
};

/** `RSA 4096`, `Ed25519` */
function nameOf(key: Key): string {
  const { algorithm, bits, curve } = key.getAlgorithmInfo();
  if (algorithm.startsWith('rsa')) return `RSA ${bits}`;
  return curveNames[curve ?? algorithm] ?? `${algorithm} ${curve ?? ''}`.trim();
}
