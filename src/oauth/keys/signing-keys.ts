import { createPrivateKey } from 'node:crypto';
import type { JsonWebKey } from 'node:crypto';
import { IsNull, LessThan } from 'typeorm';
import { decrypt, encrypt, makeRsaKey, reencrypt } from '../../sealing/index.ts';
import type { OAuthDeps } from '../deps.ts';
import { oauthKeySchema } from '../schema/key-schema.ts';
import type { OAuthKeyRow } from '../schema/key-schema.ts';

const use = 'oauth keys';
const dayMs = 24 * 3_600_000;
/** A key signs for three months; after that it is published for a day, for tokens that it has signed. */
const signsForMs = 90 * dayMs;
const publishedForMs = dayMs;

/** A private key as JSON (RFC 7517), with `kid`, `use` and `alg`. */
export type SigningJwk = JsonWebKey & { kid: string; use: 'sig'; alg: 'RS256' };

async function makeKey({ key, random }: OAuthDeps): Promise<Pick<OAuthKeyRow, 'id' | 'privateKey'>> {
  const { id, pem } = await makeRsaKey();
  return { id, privateKey: encrypt(key.for(use), random, id, pem) };
}

/** Two calls may make a first key at once: the one that comes second leaves the other's. */
async function addKey(deps: OAuthDeps, { retiresOthers }: { retiresOthers: boolean }): Promise<void> {
  const made = await makeKey(deps);
  await deps.db.write(async ({ manager, now }) => {
    if (!retiresOthers && (await manager.existsBy(oauthKeySchema, { retiredAt: IsNull() }))) return;
    await manager.update(oauthKeySchema, { retiredAt: IsNull() }, { retiredAt: now });
    await manager.insert(oauthKeySchema, { ...made, createdAt: now, retiredAt: null });
  });
}

function toJwk(deps: OAuthDeps, { id, privateKey }: OAuthKeyRow): SigningJwk | null {
  const pem = decrypt(deps.key.decrypting(use), id, privateKey);
  if (pem === null) return null;
  return { ...createPrivateKey(pem).export({ format: 'jwk' }), kid: id, use: 'sig', alg: 'RS256' };
}

const readKeys = (deps: OAuthDeps): Promise<OAuthKeyRow[]> =>
  deps.db.read.find(oauthKeySchema, { order: { createdAt: 'DESC', id: 'DESC' }, take: 20 });

/** Keys that are published, the one that signs first; it is made when it is first needed. */
async function published(deps: OAuthDeps): Promise<OAuthKeyRow[]> {
  let rows = await readKeys(deps);
  if (!rows.some(({ retiredAt }) => retiredAt === null)) {
    await addKey(deps, { retiresOthers: false });
    rows = await readKeys(deps);
  }
  const from = deps.clock.now() - publishedForMs;
  return rows
    .filter(({ retiredAt }) => retiredAt === null || retiredAt > from)
    .toSorted((a, b) => Number(a.retiredAt !== null) - Number(b.retiredAt !== null));
}

/** What changes when keys do. Each request asks, without decrypting a key. */
export async function signingKeyIds(deps: OAuthDeps): Promise<string> {
  return (await published(deps)).map(({ id }) => id).join(' ');
}

/** The keys of identity tokens, the one that signs first. */
export async function signingKeys(deps: OAuthDeps): Promise<SigningJwk[]> {
  return (await published(deps)).map((row) => toJwk(deps, row)).filter((jwk) => jwk !== null);
}

/** A scheduled task: replaces a key that has signed for three months, and removes what is published no more. */
export async function rotateSigningKeys(deps: OAuthDeps, { now = false } = {}): Promise<void> {
  const { db, clock } = deps;
  const current = await db.read.findOne(oauthKeySchema, {
    where: { retiredAt: IsNull() },
    order: { createdAt: 'DESC' },
  });
  if (current !== null && (now || current.createdAt <= clock.now() - signsForMs))
    await addKey(deps, { retiresOthers: true });
  const before = clock.now() - publishedForMs;
  if (await db.read.existsBy(oauthKeySchema, { retiredAt: LessThan(before) }))
    await db.write(({ manager }) => manager.delete(oauthKeySchema, { retiredAt: LessThan(before) }));
}

/** After a rotation of the instance key: see `reencrypt`. @returns how many were encrypted again */
export function reencryptSigningKeys({ db, key, random }: OAuthDeps): Promise<number> {
  return db.write(async ({ manager }) => {
    let changed = 0;
    for (const row of await manager.find(oauthKeySchema)) {
      const privateKey = reencrypt(key, random, { use, place: row.id, text: row.privateKey });
      if (privateKey === null) continue;
      await manager.update(oauthKeySchema, { id: row.id }, { privateKey });
      changed += 1;
    }
    return changed;
  });
}
