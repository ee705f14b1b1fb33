import { createHash } from 'node:crypto';
import { IsNull, LessThanOrEqual } from 'typeorm';
import { decrypt, encrypt } from '../../sealing/index.ts';
import type { OAuthDeps } from '../deps.ts';
import { recordSchema } from '../schema/record-schema.ts';
import type { RecordRow } from '../schema/record-schema.ts';

/** What the protocol library stores: an object of JSON whose `jti` is its key. */
export type Payload = Record<string, unknown>;

interface StoredRecord {
  payload: Payload;
  userId: string | null;
}

/** The kind whose key is needed when it was found by something else. */
const sealedKinds = new Set(['DeviceCode']);
const use = 'device codes';

/** Keys are hashed together with their kind, so that a code is never taken for a token. */
const keyHash = (kind: string, key: string): string => createHash('sha256').update(`${kind}:${key}`).digest('hex');

const text = (value: unknown): string | null => (typeof value === 'string' && value !== '' ? value : null);

/** @param expiresInS seconds from now; undefined for what does not expire */
export async function saveRecord(
  { db, key: instanceKey, random }: OAuthDeps,
  kind: string,
  key: string,
  { jti: _, ...payload }: Payload,
  expiresInS: number | undefined,
): Promise<void> {
  const hash = keyHash(kind, key);
  await db.write(async ({ manager, now }) => {
    const present = await manager.findOneBy(recordSchema, { keyHash: hash });
    const row: RecordRow = {
      keyHash: hash,
      kind,
      clientId: text(payload.clientId),
      userId: text(payload.accountId),
      // A grant belongs to itself, so that what goes by grant takes it along.
      grantId: kind === 'Grant' ? key : text(payload.grantId),
      uid: text(payload.uid),
      userCode: text(payload.userCode),
      sealedKey: sealedKinds.has(kind) ? encrypt(instanceKey.for(use), random, hash, key) : null,
      payload: JSON.stringify(payload),
      createdAt: present?.createdAt ?? now,
      expiresAt: expiresInS === undefined ? null : now + expiresInS * 1000,
      consumedAt: present?.consumedAt ?? null,
    };
    await manager.save(recordSchema, row);
  });
}

const toStored = (row: RecordRow, key: string | null): StoredRecord => ({
  payload: {
    ...(JSON.parse(row.payload) as Payload),
    ...(key === null ? {} : { jti: key }),
    ...(row.consumedAt === null ? {} : { consumed: Math.floor(row.consumedAt / 1000) }),
  },
  userId: row.userId,
});

const isOver = ({ clock }: OAuthDeps, row: RecordRow | null): row is null =>
  row === null || (row.expiresAt !== null && row.expiresAt <= clock.now());

export async function findRecord(deps: OAuthDeps, kind: string, key: string): Promise<StoredRecord | null> {
  const row = await deps.db.read.findOneBy(recordSchema, { keyHash: keyHash(kind, key) });
  return isOver(deps, row) ? null : toStored(row, key);
}

export async function findRecordBy(
  deps: OAuthDeps,
  kind: string,
  by: { uid: string } | { userCode: string },
): Promise<StoredRecord | null> {
  const row = await deps.db.read.findOneBy(recordSchema, { kind, ...by });
  if (isOver(deps, row)) return null;
  const key = row.sealedKey === null ? null : decrypt(deps.key.decrypting(use), row.keyHash, row.sealedKey);
  return toStored(row, key);
}

/** Marks a record as used. @returns false where it was before: of two that use one code, one does */
export function consumeRecord({ db }: OAuthDeps, kind: string, key: string): Promise<boolean> {
  return db.write(async ({ manager, now }) => {
    const { affected } = await manager.update(
      recordSchema,
      { keyHash: keyHash(kind, key), consumedAt: IsNull() },
      { consumedAt: now },
    );
    return affected === 1;
  });
}

export async function removeRecord({ db }: OAuthDeps, kind: string, key: string): Promise<void> {
  await db.write(({ manager }) => manager.delete(recordSchema, { keyHash: keyHash(kind, key) }));
}

/** Ends a grant with the codes and tokens that were issued on it. */
export async function removeGrant({ db }: OAuthDeps, grantId: string): Promise<void> {
  await db.write(({ manager }) => manager.delete(recordSchema, { grantId }));
}

/** Removes what has expired, at most `most` rows a call. */
export async function removeExpiredRecords({ db, clock }: OAuthDeps, most = 5000): Promise<void> {
  await db.write(async ({ manager }) => {
    const rows = await manager.find(recordSchema, {
      where: { expiresAt: LessThanOrEqual(clock.now()) },
      select: { keyHash: true },
      take: most,
    });
    for (let at = 0; at < rows.length; at += 500)
      await manager.delete(
        recordSchema,
        rows.slice(at, at + 500).map(({ keyHash: hash }) => hash),
      );
  });
}
