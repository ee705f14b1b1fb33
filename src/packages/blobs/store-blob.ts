import { createHash } from 'node:crypto';
import type { Hash } from 'node:crypto';
import type { Readable } from 'node:stream';
import type { EntityManager } from 'typeorm';
import type { Tx } from '../../db/index.ts';
import { isDomainError, unavailable } from '../../kernel/index.ts';
import type { StoredObject } from '../../objects/index.ts';
import type { PackageDeps } from '../deps.ts';
import { blobDamaged, blobMissing, blobRemoving, overQuota, packageFileTooLarge } from '../package-errors.ts';
import { packageBlobSchema, packageUsageSchema } from '../schema/blob-schema.ts';
import type { PackageBlobRow } from '../schema/blob-schema.ts';
import { blobKey, chunkKey } from './blob-key.ts';

/** Digests of a content, in hex. */
export interface ContentHashes {
  sha1: string;
  md5: string;
  sha512: string;
}

export interface StoredBlob extends StoredObject {
  hashes: ContentHashes;
}

/** How much of a content may be taken, in bytes. Refuses `package_quota` where nothing may. */
async function limitOf({ db, settings }: PackageDeps, ownerId: string): Promise<number> {
  const [usage] = await db.lookup(packageUsageSchema, { ownerId });
  const left = settings.ownerQuotaBytes - (usage?.bytes ?? 0);
  if (left <= 0) throw overQuota(settings.ownerQuotaBytes);
  return left;
}

/** The limits of a content that comes: that of a file, and what the owner's quota leaves. */
export async function putOptionsFor(
  deps: PackageDeps,
  ownerId: string,
): Promise<{ maxBytes: number; tooLarge: () => Error }> {
  const { settings } = deps;
  const left = await limitOf(deps, ownerId);
  const isQuota = left < settings.maxFileBytes;
  return {
    maxBytes: Math.min(left, settings.maxFileBytes),
    tooLarge: () => (isQuota ? overQuota(settings.ownerQuotaBytes) : packageFileTooLarge(settings.maxFileBytes)),
  };
}

/**
 * Stores the content of a file of an owner, hashed in every way that clients ask for, and its row. Nothing names it
 * yet: it is kept for a day. Refuses `package_file_too_large`, `package_quota`, `package_digest` where it is not what
 * was announced, what the store refuses, and what the content throws; then nothing is stored.
 */
export async function receiveBlob(
  deps: PackageDeps,
  ownerId: string,
  content: AsyncIterable<Uint8Array>,
  expected: Partial<StoredObject> = {},
): Promise<StoredBlob> {
  const limits = await putOptionsFor(deps, ownerId);
  const hashes = { sha1: createHash('sha1'), md5: createHash('md5'), sha512: createHash('sha512') };
  const objectId = deps.random.uuid();
  const stored = await deps.objects
    .put(chunkKey(objectId), hashing(content, Object.values(hashes)), { ...limits, expected })
    .catch(asDamaged);
  try {
    await placeBlob(deps, ownerId, objectId, stored);
  } finally {
    await deps.objects.remove(chunkKey(objectId));
  }
  return {
    ...stored,
    hashes: { sha1: hashes.sha1.digest('hex'), md5: hashes.md5.digest('hex'), sha512: hashes.sha512.digest('hex') },
  };
}

async function* hashing(content: AsyncIterable<Uint8Array>, hashes: readonly Hash[]): AsyncGenerator<Uint8Array> {
  for await (const chunk of content) {
    for (const hash of hashes) hash.update(chunk);
    yield chunk;
  }
}

export function asDamaged(error: unknown): never {
  throw isDomainError(error) && error.reason === 'object_damaged' ? blobDamaged() : error;
}

/** Gives what lies under the id of an incoming object its place under its digest, and its row. */
export async function placeBlob(
  deps: PackageDeps,
  ownerId: string,
  objectId: string,
  stored: StoredObject & { sha512?: string },
  inWrite: (tx: Tx) => Promise<void> = async () => {},
): Promise<void> {
  const key = blobKey(ownerId, stored.sha256);
  await deps.inTurn(key, async () => {
    await deps.objects.link(chunkKey(objectId), key).catch((error: unknown) => {
      // The same content came before.
      if (!isDomainError(error) || error.reason !== 'object_exists') throw error;
      return true;
    });
    if ((await deps.objects.stat(key)) === null)
      throw unavailable('package_blob_gone', 'The upload was removed meanwhile. Please try again.', {
        retryAfterSeconds: 1,
      });
    try {
      await deps.db.write(async (tx) => {
        await keepBlobRow(deps, tx, ownerId, stored);
        await inWrite(tx);
      });
    } catch (error) {
      // With a row, the object is not of this upload.
      if ((await findBlob(deps.db.read, ownerId, stored.sha256, true)) === null) await deps.objects.remove(key);
      throw error;
    }
  });
}

async function keepBlobRow(
  { settings }: PackageDeps,
  { manager, now }: Tx,
  ownerId: string,
  { sha256, bytes, sha512 }: StoredObject & { sha512?: string },
): Promise<void> {
  const row = await manager.findOneBy(packageBlobSchema, { ownerId, sha256 });
  if (row?.removingAt != null) throw blobRemoving();
  if (row !== null) {
    await manager.update(
      packageBlobSchema,
      { ownerId, sha256 },
      { neededAt: now, ...(sha512 === undefined ? {} : { sha512 }) },
    );
    return;
  }
  const usage = await manager.findOneBy(packageUsageSchema, { ownerId });
  if ((usage?.bytes ?? 0) + bytes > settings.ownerQuotaBytes) throw overQuota(settings.ownerQuotaBytes);
  await manager.insert(packageBlobSchema, {
    ownerId,
    sha256,
    sha512: sha512 ?? null,
    bytes,
    storedAt: now,
    neededAt: now,
    removingAt: null,
  });
}

/** A blob of an owner; one that is being removed counts as absent unless it is asked for. */
export async function findBlob(
  manager: EntityManager,
  ownerId: string,
  sha256: string,
  includesRemoving = false,
): Promise<PackageBlobRow | null> {
  const row = await manager.findOneBy(packageBlobSchema, { ownerId, sha256 });
  return row === null || (row.removingAt !== null && !includesRemoving) ? null : row;
}

/**
 * Inside the write of a version: all blobs that it names are there and are kept from now on. Refuses
 * `package_blob_missing`.
 */
export async function claimBlobs({ manager, now }: Tx, ownerId: string, digests: Iterable<string>): Promise<void> {
  for (const sha256 of new Set(digests)) {
    if ((await findBlob(manager, ownerId, sha256)) === null) throw blobMissing(`sha256:${sha256}`);
    await manager.update(packageBlobSchema, { ownerId, sha256 }, { neededAt: now });
  }
}

/** The content of a file or a blob, or a range of it. Refuses `package_blob_missing`. */
export async function openBlob(
  { objects }: Pick<PackageDeps, 'objects'>,
  { ownerId, sha256 }: { ownerId: string; sha256: string },
  range?: { first: number; last: number },
): Promise<Readable> {
  const opened = await objects.get(blobKey(ownerId, sha256), range);
  if (opened === null) throw blobMissing(`sha256:${sha256}`);
  return opened.stream;
}

/** A small content as a whole; null when it is absent or larger. */
export async function readBlob(
  { db, objects }: Pick<PackageDeps, 'db' | 'objects'>,
  ownerId: string,
  sha256: string,
  maxBytes: number,
): Promise<Buffer | null> {
  const blob = await findBlob(db.read, ownerId, sha256);
  const opened = blob === null || blob.bytes > maxBytes ? null : await objects.get(blobKey(ownerId, sha256));
  if (opened === null) return null;
  const chunks: Buffer[] = [];
  for await (const chunk of opened.stream) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks);
}

/** A small range of a content, both ends included. */
export async function readBlobRange(
  { objects }: Pick<PackageDeps, 'objects'>,
  ownerId: string,
  sha256: string,
  first: number,
  last: number,
): Promise<Buffer> {
  const stream = await openBlob({ objects }, { ownerId, sha256 }, { first, last });
  const chunks: Buffer[] = [];
  for await (const chunk of stream) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks);
}
