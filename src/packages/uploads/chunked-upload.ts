import { createHash } from 'node:crypto';
import type { Viewer } from '../../access/index.ts';
import { conflict, invalid, notFound } from '../../kernel/index.ts';
import type { Digest } from '../blobs/blob-key.ts';
import { chunkKey } from '../blobs/blob-key.ts';
import { nameBlob } from '../blobs/named-blobs.ts';
import { asDamaged, placeBlob, putOptionsFor } from '../blobs/store-blob.ts';
import type { PackageDeps } from '../deps.ts';
import { blobDamaged } from '../package-errors.ts';
import { packageForPublish } from '../rights/find-package.ts';
import type { PublishTarget } from '../rights/find-package.ts';
import { packageUploadChunkSchema, packageUploadSchema } from '../schema/blob-schema.ts';
import type { PackageUploadChunkRow, PackageUploadRow } from '../schema/blob-schema.ts';
import { packageSchema } from '../schema/package-schema.ts';

// Uploads of blobs in chunks (Distribution Specification 1.1, "Pushing a blob in chunks"). Each chunk is a separate
// object, so that chunks may arrive over several connections and at several nodes.

const noUpload = () => notFound('package_upload_unknown', 'There is no such upload, or it has ended.');

/** Begins an upload. Refuses as `openForPublish` does. */
export async function beginUpload(deps: PackageDeps, viewer: Viewer, target: PublishTarget): Promise<PackageUploadRow> {
  return deps.db.write(async (tx) => {
    const { id: packageId } = await packageForPublish(deps, tx, viewer, target);
    const row = { id: deps.random.uuid(), packageId, bytes: 0, createdAt: tx.now, updatedAt: tx.now };
    await tx.manager.insert(packageUploadSchema, row);
    return row;
  });
}

/** An upload to a package that the viewer may publish to. Throws `package_upload_unknown`. */
export async function findUpload(deps: PackageDeps, target: PublishTarget, id: string): Promise<PackageUploadRow> {
  const row = await deps.db.read.findOneBy(packageUploadSchema, { id });
  const found = row === null ? null : await deps.db.read.findOneBy(packageSchema, { id: row.packageId });
  const { owner, format, nameKey } = target;
  if (row === null || found?.ownerId !== owner.id || found.format !== format || found.nameKey !== nameKey)
    throw noUpload();
  return row;
}

/** An incoming chunk. */
interface Chunk {
  /** Nothing else may use its chunks. */
  content: AsyncIterable<Uint8Array>;
  /** Its offset from `Content-Range`; null for the current end. */
  first: number | null;
  /** Its length, if announced. */
  bytes?: number;
}

/**
 * Appends a chunk to the received data. Throws `package_chunk_range` if it begins elsewhere or another chunk was
 * faster; `package_digest` if its length differs; `package_file_too_large`, `package_quota`.
 * @returns the new size of the upload
 */
export async function receiveChunk(
  deps: PackageDeps,
  target: PublishTarget,
  upload: PackageUploadRow,
  { content, first, bytes }: Chunk,
): Promise<number> {
  if (first !== null && first !== upload.bytes) throw wrongRange(upload.bytes);
  const limits = await putOptionsFor(deps, target.owner.id);
  const objectId = deps.random.uuid();
  const stored = await deps.objects
    .put(chunkKey(objectId), content, {
      ...limits,
      maxBytes: Math.max(0, limits.maxBytes - upload.bytes),
      frees: true,
      ...(bytes === undefined ? {} : { expected: { bytes } }),
    })
    .catch(asDamaged);
  if (stored.bytes === 0) {
    await deps.objects.remove(chunkKey(objectId));
    return upload.bytes;
  }
  try {
    return await deps.db.write(async ({ manager, now }) => {
      const row = await manager.findOneBy(packageUploadSchema, { id: upload.id });
      if (row === null) throw noUpload();
      if (row.bytes !== upload.bytes) throw wrongRange(row.bytes);
      const { bytes: size, sha256 } = stored;
      await manager.insert(packageUploadChunkSchema, {
        uploadId: row.id,
        firstByte: row.bytes,
        bytes: size,
        sha256,
        objectId,
      });
      await manager.update(packageUploadSchema, { id: row.id }, { bytes: row.bytes + size, updatedAt: now });
      return row.bytes + size;
    });
  } catch (error) {
    await deps.objects.remove(chunkKey(objectId));
    throw error;
  }
}

/** The error for a chunk that does not begin at the end of the upload. */
const wrongRange = (bytes: number) =>
  conflict('package_chunk_range', `The chunk must start at byte ${bytes}, where the upload ends.`);

/**
 * Completes an upload: the received data becomes a blob of this digest, visible in the package. Throws
 * `package_digest`, leaving the upload unchanged.
 * @returns the SHA-256 of the content, in hex, and its size
 */
export async function finishUpload(
  deps: PackageDeps,
  viewer: Viewer,
  target: PublishTarget,
  { id }: Pick<PackageUploadRow, 'id'>,
  digest: Digest,
): Promise<{ sha256: string; bytes: number }> {
  const chunks = await deps.db.read.find(packageUploadChunkSchema, {
    where: { uploadId: id },
    order: { firstByte: 'ASC' },
  });
  const whole = await joinChunks(deps, chunks, digest);
  try {
    await placeBlob(deps, target.owner.id, { ...whole, from: chunkKey(whole.objectId) }, async (tx) => {
      const row = await packageForPublish(deps, tx, viewer, target);
      await nameBlob(tx, row.id, whole.sha256);
      await tx.manager.delete(packageUploadSchema, { id });
    });
  } finally {
    if (whole.isNew) await deps.objects.remove(chunkKey(whole.objectId));
  }
  await removeObjects(deps, chunks);
  return { sha256: whole.sha256, bytes: whole.bytes };
}

/** A single chunk is used as it is; several are written as one object and hashed on the way. */
async function joinChunks(
  deps: PackageDeps,
  chunks: readonly PackageUploadChunkRow[],
  { algorithm, hex }: Digest,
): Promise<{ objectId: string; sha256: string; bytes: number; sha512?: string; isNew: boolean }> {
  const [only] = chunks;
  if (chunks.length === 1 && only !== undefined && algorithm === 'sha256') {
    if (only.sha256 !== hex) throw blobDamaged();
    return { objectId: only.objectId, sha256: hex, bytes: only.bytes, isNew: false };
  }
  const objectId = deps.random.uuid();
  const bytes = chunks.reduce((sum, chunk) => sum + chunk.bytes, 0);
  const sha512 = createHash('sha512');
  async function* content(): AsyncGenerator<Uint8Array> {
    for (const chunk of chunks) {
      const opened = await deps.objects.get(chunkKey(chunk.objectId));
      if (opened === null) throw noUpload();
      for await (const part of opened.stream) {
        if (algorithm === 'sha512') sha512.update(part as Buffer);
        yield part as Buffer;
      }
    }
  }
  const expected = algorithm === 'sha256' ? { bytes, sha256: hex } : { bytes };
  const stored = await deps.objects
    .put(chunkKey(objectId), content(), { maxBytes: bytes, tooLarge: blobDamaged, expected, frees: true })
    .catch(asDamaged);
  if (algorithm === 'sha256') return { objectId, ...stored, isNew: true };
  if (sha512.digest('hex') === hex) return { objectId, ...stored, sha512: hex, isNew: true };
  await deps.objects.remove(chunkKey(objectId));
  throw blobDamaged();
}

/** Cancels an upload and removes the received data. */
export async function cancelUpload(deps: PackageDeps, { id }: Pick<PackageUploadRow, 'id'>): Promise<void> {
  const chunks = await deps.db.read.findBy(packageUploadChunkSchema, { uploadId: id });
  await deps.db.write(({ manager }) => manager.delete(packageUploadSchema, { id }));
  await removeObjects(deps, chunks);
}

async function removeObjects(deps: PackageDeps, chunks: readonly PackageUploadChunkRow[]): Promise<void> {
  for (const { objectId } of chunks) await deps.objects.remove(chunkKey(objectId));
}

/** Throws `package_chunk_range` for an invalid range. */
export function readChunkRange(text: string): { first: number; bytes: number } {
  const [, first, last] = /^(?:bytes[ =])?(\d{1,15})-(\d{1,15})$/.exec(text) ?? [];
  if (first === undefined || Number(last) < Number(first))
    throw invalid('package_chunk_range_form', 'The Content-Range header must have the form 0-1023.');
  return { first: Number(first), bytes: Number(last) - Number(first) + 1 };
}
