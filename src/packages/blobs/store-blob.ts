import { createHash } from 'node:crypto';
import type { Hash } from 'node:crypto';
import type { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import type { EntityManager } from 'typeorm';
import { rowBy } from '../../db/index.ts';
import type { Tx } from '../../db/index.ts';
import { isDomainError } from '../../kernel/index.ts';
import type { PutOptions, StoredObject } from '../../objects/index.ts';
import type { PackageDeps } from '../deps.ts';
import { blobDamaged, blobMissing, overQuota, packageFileTooLarge, uploadGone } from '../package-errors.ts';
import { packageBlobSchema, packageUsageSchema } from '../schema/blob-schema.ts';
import type { PackageBlobRow } from '../schema/blob-schema.ts';
import { blobKey, chunkKey, newObjectName } from './blob-key.ts';
import type { BlobObject } from './blob-key.ts';

/** Digests of content, in hex. */
export interface ContentHashes {
  sha1: string;
  md5: string;
  sha512: string;
}

export interface StoredBlob extends StoredObject {
  hashes: ContentHashes;
}

/** Number of bytes of content that may be stored. Throws `package_quota` if it is zero. */
async function limitOf({ db, settings }: PackageDeps, ownerId: string): Promise<number> {
  const [usage] = await db.lookup(packageUsageSchema, { ownerId });
  const left = settings.ownerQuotaBytes - (usage?.bytes ?? 0);
  if (left <= 0) throw overQuota(settings.ownerQuotaBytes);
  return left;
}

/** The limits of incoming content: that of a file, and the rest of the owner's quota. */
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
 * Stores content of an owner and its row. No version references it yet,
 * so it is kept for a day. Throws `package_file_too_large`, `package_quota`, `package_digest` if it differs from the
 * announced digest, what the store refuses, and what the content throws, without storing anything.
 */
export async function storeBlob(
  deps: PackageDeps,
  ownerId: string,
  content: AsyncIterable<Uint8Array>,
  options: Pick<PutOptions, 'expected' | 'frees'>,
): Promise<StoredObject> {
  const limits = await putOptionsFor(deps, ownerId);
  const from = chunkKey(deps.random.uuid());
  const stored = await deps.objects.put(from, content, { ...limits, ...options }).catch(asDamaged);
  try {
    await placeBlob(deps, ownerId, { ...stored, from });
  } finally {
    await deps.objects.remove(from);
  }
  return stored;
}

/**
 * Stores the content of an owner's file as `storeBlob` does, with all hashes that clients use.
 * @param frees whether nothing else uses the chunks of the content
 */
export async function receiveBlob(
  deps: PackageDeps,
  ownerId: string,
  content: AsyncIterable<Uint8Array>,
  frees = false,
): Promise<StoredBlob> {
  const hashes = { sha1: createHash('sha1'), md5: createHash('md5'), sha512: createHash('sha512') };
  const stored = await storeBlob(deps, ownerId, hashing(content, Object.values(hashes)), { frees });
  return {
    ...stored,
    hashes: { sha1: hashes.sha1.digest('hex'), md5: hashes.md5.digest('hex'), sha512: hashes.sha512.digest('hex') },
  };
}

/** Passes content on, and updates hashes with it. */
export async function* hashing(
  content: AsyncIterable<Uint8Array>,
  hashes: readonly Hash[],
): AsyncGenerator<Uint8Array> {
  for await (const chunk of content) {
    for (const hash of hashes) hash.update(chunk);
    yield chunk;
  }
}

export function asDamaged(error: unknown): never {
  throw isDomainError(error) && error.reason === 'object_damaged' ? blobDamaged() : error;
}

/** Content with an existing key, to become a blob of an owner. */
interface ContentToPlace extends StoredObject {
  /** Key of its object. */
  from: string;
  sha512?: string | null;
}

/**
 * Makes content a blob of an owner: by the owner's existing object with this content, or by copying `from` to a new
 * key. Each object has a unique name, so that no collection, in this process or another one, removes new content in
 * place of old. Throws `package_quota`, `package_blob_gone` if `from` does not exist, and what `inWrite` throws,
 * without storing anything.
 */
export async function placeBlob(
  deps: PackageDeps,
  ownerId: string,
  content: ContentToPlace,
  inWrite: (tx: Tx) => Promise<void> = async () => {},
): Promise<void> {
  const { db, objects, clock, random } = deps;
  const { sha256 } = content;
  const present = await findBlob(db.read, ownerId, sha256);
  const isThere = present !== null && (await objects.stat(blobKey(present))) !== null;
  if (isThere && (await keepPresent(deps, present, content, inWrite))) return;

  const fresh: BlobObject = { ownerId, sha256, objectName: newObjectName(sha256, clock.now(), random.uuid()) };
  try {
    if (!(await objects.link(content.from, blobKey(fresh)))) throw uploadGone();
    await db.write(async (tx) => {
      await keepRow(deps, tx, fresh, content, isThere ? null : present);
      await inWrite(tx);
    });
  } finally {
    // Another upload may have been faster; a written row keeps its object, whatever fails after it.
    if ((await findBlob(db.read, ownerId, sha256))?.objectName !== fresh.objectName)
      await objects.remove(blobKey(fresh));
  }
}

/** False if the blob was removed concurrently. */
const keepPresent = (
  { db }: PackageDeps,
  { ownerId, sha256, objectName }: BlobObject,
  { sha512 }: ContentToPlace,
  inWrite: (tx: Tx) => Promise<void>,
): Promise<boolean> =>
  db.write(async (tx) => {
    const row = await findBlob(tx.manager, ownerId, sha256);
    if (row === null || row.objectName !== objectName) return false;
    await renew(tx, row, sha512);
    await inWrite(tx);
    return true;
  });

const renew = ({ manager, now }: Tx, { ownerId, sha256 }: PackageBlobRow, sha512?: string | null) =>
  manager.update(packageBlobSchema, { ownerId, sha256 }, { neededAt: now, ...(sha512 == null ? {} : { sha512 }) });

/** The row of a new object, unless another upload has stored the content since. */
async function keepRow(
  { settings }: PackageDeps,
  tx: Tx,
  { ownerId, sha256, objectName }: BlobObject,
  { bytes, sha512 = null }: ContentToPlace,
  damaged: PackageBlobRow | null,
): Promise<void> {
  const { manager, now } = tx;
  const row = await findBlob(manager, ownerId, sha256);
  if (row !== null) {
    await renew(tx, row, sha512);
    // A row whose object is lost gets this one.
    if (damaged !== null && row.objectName === damaged.objectName)
      await manager.update(packageBlobSchema, { ownerId, sha256 }, { objectName });
    return;
  }
  const usage = await manager.findOneBy(packageUsageSchema, { ownerId });
  if ((usage?.bytes ?? 0) + bytes > settings.ownerQuotaBytes) throw overQuota(settings.ownerQuotaBytes);
  const times = { storedAt: now, neededAt: now };
  await manager.insert(packageBlobSchema, { ownerId, sha256, sha512, bytes, objectName, ...times });
}

/** A blob of an owner. */
const findBlob = (manager: EntityManager, ownerId: string, sha256: string): Promise<PackageBlobRow | null> =>
  manager.findOneBy(packageBlobSchema, { ownerId, sha256 });

/**
 * Inside the write of a version: checks that all blobs that it references exist, and keeps them from now on. Throws
 * `package_blob_missing`.
 */
export async function claimBlobs({ manager, now }: Tx, ownerId: string, digests: Iterable<string>): Promise<void> {
  for (const sha256 of new Set(digests)) {
    if ((await findBlob(manager, ownerId, sha256)) === null) throw blobMissing(`sha256:${sha256}`);
    await manager.update(packageBlobSchema, { ownerId, sha256 }, { neededAt: now });
  }
}

/** The key of the object with the content of a file or a blob. Throws `package_blob_missing`. */
export async function keyOfBlob(
  { db, objects }: Pick<PackageDeps, 'db' | 'objects'>,
  { ownerId, sha256 }: { ownerId: string; sha256: string },
): Promise<string> {
  const blob = await rowBy(db.lookup, packageBlobSchema, { ownerId, sha256 });
  if (blob === null || (await objects.stat(blobKey(blob))) === null) throw blobMissing(`sha256:${sha256}`);
  return blobKey(blob);
}

/** The content of a file or a blob, or a range of it. Throws `package_blob_missing`. */
export async function openBlob(
  { db, objects }: Pick<PackageDeps, 'db' | 'objects'>,
  { ownerId, sha256 }: { ownerId: string; sha256: string },
  range?: { first: number; last: number },
): Promise<Readable> {
  const blob = await rowBy(db.lookup, packageBlobSchema, { ownerId, sha256 });
  const opened = blob === null ? null : await objects.get(blobKey(blob), range);
  if (opened === null) throw blobMissing(`sha256:${sha256}`);
  return opened.stream;
}

/** Small content as a whole; null if it is absent or larger. */
export async function readBlob(
  { db, objects }: Pick<PackageDeps, 'db' | 'objects'>,
  ownerId: string,
  sha256: string,
  maxBytes: number,
): Promise<Buffer | null> {
  const blob = await findBlob(db.read, ownerId, sha256);
  const opened = blob === null || blob.bytes > maxBytes ? null : await objects.get(blobKey(blob));
  if (opened === null) return null;
  return buffer(opened.stream);
}

/** A small range of content, including both ends. */
export async function readBlobRange(
  deps: Pick<PackageDeps, 'db' | 'objects'>,
  ownerId: string,
  sha256: string,
  first: number,
  last: number,
): Promise<Buffer> {
  return buffer(await openBlob(deps, { ownerId, sha256 }, { first, last }));
}
