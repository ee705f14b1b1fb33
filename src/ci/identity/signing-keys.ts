import { createPrivateKey } from 'node:crypto';
import type { KeyObject } from 'node:crypto';
import { IsNull, LessThan } from 'typeorm';
import { internal } from '../../kernel/index.ts';
import { decrypt, encrypt, makeRsaKey, reencrypt } from '../../sealing/index.ts';
import type { CiDeps } from '../deps.ts';
import { identityKeySchema } from '../schema/identity-key-schema.ts';
import type { IdentityKeyRow } from '../schema/identity-key-schema.ts';

type KeyDeps = Pick<CiDeps, 'db' | 'key' | 'random' | 'clock'>;

/** A public key in the format of `jwks_uri` (RFC 7517). */
interface PublicKey {
  kid: string;
  kty: string;
  use: 'sig';
  alg: 'RS256';
  n: string;
  e: string;
}

interface SigningKey {
  id: string;
  key: KeyObject;
}

/** Tokens are valid for minutes; services that verify them cache the list of keys for hours. */
const retiredTtlMs = 24 * 3_600_000;

const use = 'identity keys';

async function makeKey({ key, random }: KeyDeps): Promise<Omit<IdentityKeyRow, 'createdAt' | 'retiredAt'>> {
  const { id, publicKey, pem } = await makeRsaKey();
  return {
    id,
    publicKey: publicKey as IdentityKeyRow['publicKey'],
    privateKey: encrypt(key.for(use), random, id, pem),
  };
}

/** Returns the current signing key, creating it on first use. */
export async function signingKey(deps: KeyDeps): Promise<SigningKey> {
  const row = (await newest(deps)) ?? (await insertKey(deps, { retiresOthers: false }));
  const pem = decrypt(deps.key.decrypting(use), row.id, row.privateKey);
  if (pem === null) throw internal('the key of identity tokens was encrypted with another instance key');
  return { id: row.id, key: createPrivateKey(pem) };
}

const newest = ({ db }: KeyDeps): Promise<IdentityKeyRow | null> =>
  db.read.findOne(identityKeySchema, { where: { retiredAt: IsNull() }, order: { createdAt: 'DESC' } });

/** Two concurrent calls may create a first key; the second one uses the key of the first. */
async function insertKey(deps: KeyDeps, { retiresOthers }: { retiresOthers: boolean }): Promise<IdentityKeyRow> {
  const made = await makeKey(deps);
  return deps.db.write(async ({ manager, now }) => {
    const present = await manager.findOne(identityKeySchema, {
      where: { retiredAt: IsNull() },
      order: { createdAt: 'DESC' },
    });
    if (present !== null && !retiresOthers) return present;
    await manager.update(identityKeySchema, { retiredAt: IsNull() }, { retiredAt: now });
    const row: IdentityKeyRow = { ...made, createdAt: now, retiredAt: null };
    await manager.insert(identityKeySchema, row);
    return row;
  });
}

/** Creates a new signing key. The previous one stays published for a day, to verify tokens that it signed. */
export async function rotateKey(deps: KeyDeps): Promise<{ id: string }> {
  await removeRetired(deps);
  return { id: (await insertKey(deps, { retiresOthers: true })).id };
}

/** Keys that verify tokens. */
export async function publicKeys({ db, clock }: KeyDeps): Promise<PublicKey[]> {
  const rows = await db.read.find(identityKeySchema, { order: { createdAt: 'DESC' } });
  return rows
    .filter(({ retiredAt }) => retiredAt === null || retiredAt > clock.now() - retiredTtlMs)
    .map(({ id, publicKey: { kty, n, e } }) => ({ kid: id, kty, use: 'sig', alg: 'RS256', n, e }));
}

/** Removes keys that are no longer published. */
export async function removeRetired({ db, clock }: KeyDeps): Promise<void> {
  const before = clock.now() - retiredTtlMs;
  await db.write(({ manager }) => manager.delete(identityKeySchema, { retiredAt: LessThan(before) }));
}

/** Re-encrypts the keys after a rotation of the instance key. @returns the number of keys */
export function reencryptIdentityKeys({ db, key, random }: KeyDeps): Promise<number> {
  return db.write(async ({ manager }) => {
    let changed = 0;
    for (const row of await manager.find(identityKeySchema)) {
      const privateKey = reencrypt(key, random, { use, place: row.id, text: row.privateKey });
      if (privateKey === null) continue;
      await manager.update(identityKeySchema, { id: row.id }, { privateKey });
      changed += 1;
    }
    return changed;
  });
}
