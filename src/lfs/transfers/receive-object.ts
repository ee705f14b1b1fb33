import { createHash } from 'node:crypto';
import { localAdministrator, personIdOf } from '../../access/index.ts';
import type { Viewer } from '../../access/index.ts';
import type { Tx } from '../../db/index.ts';
import { conflict, invalid, isDomainError, unavailable } from '../../kernel/index.ts';
import type { Repository } from '../../repositories/index.ts';
import type { LfsDeps } from '../deps.ts';
import { refuseInWrite } from '../lfs-context.ts';
import type { LfsContext } from '../lfs-context.ts';
import { beingRemoved, objectTooLarge } from '../lfs-errors.ts';
import { removeWithoutRow } from '../gc/remove-files.ts';
import { objectKey } from '../object-key.ts';
import { lfsObjectSchema } from '../schema/lfs-schema.ts';
import { findObject } from './find-objects.ts';
import { refuseOverQuota } from './quota.ts';

/** An incoming object, as described by its name and the client. */
interface IncomingObject {
  oid: string;
  bytes: number;
  content: AsyncIterable<Uint8Array>;
}

/**
 * Stores an object: hashes it while writing, compares the digest with its name, syncs it, then writes its row. Existing
 * content is also read to its end and compared: knowing an object's id does not count as an upload. Access and quotas
 * are checked before the content, and again in the write of the row. Nothing else may use the chunks of the content.
 *
 * Throws `lfs_object_too_large`, `lfs_quota`, `lfs_object_damaged` (another digest or size), `lfs_object_removing`,
 * errors of the store (`disk_full`, `low_disk_space`), access errors, and errors of the content. Then nothing is
 * stored.
 */
export async function receiveObject(
  deps: LfsDeps,
  viewer: Viewer,
  context: LfsContext,
  { oid, bytes, content }: IncomingObject,
): Promise<void> {
  const { db, counters } = deps;
  const repositoryId = context.repository.id;
  try {
    refuseTooLarge(deps, bytes);
    const present = await findObject(db.read, repositoryId, oid);
    if (present !== null) {
      await compare(content, { oid, bytes: present.bytes });
      await keepPresent(deps, repositoryId, oid);
      return;
    }
    await refuseOverQuota(deps, db.read, viewer, context, bytes);
    await storeContent(deps, repositoryId, { oid, bytes, content, frees: true }, async (tx) => {
      const repository = await refuseInWrite(deps, tx, viewer, context, 'upload');
      await refuseOverQuota(deps, tx.manager, viewer, { ...context, repository }, bytes);
      return personIdOf(viewer);
    });
    counters.uploads += 1;
    counters.uploadedBytes += bytes;
  } catch (error) {
    counters.refusedUploads += 1;
    throw error;
  }
}

/**
 * Stores a missing object that this server fetches or imports itself. Quotas apply to mirrors, but not to imports by an
 * administrator. Throws the errors of `receiveObject`, except access errors.
 */
export async function storeObject(
  deps: LfsDeps,
  repository: Repository,
  { oid, bytes, content }: IncomingObject,
  { hasQuota }: { hasQuota: boolean },
): Promise<void> {
  const refuseFull = async (reader: Parameters<typeof refuseOverQuota>[1]): Promise<void> => {
    if (!hasQuota) return;
    refuseTooLarge(deps, bytes);
    await refuseOverQuota(deps, reader, localAdministrator, { repository, facts: null }, bytes);
  };
  await refuseFull(deps.db.read);
  await storeContent(deps, repository.id, { oid, bytes, content, frees: false }, async (tx) => {
    await refuseFull(tx.manager);
    return null;
  });
}

/** A collection may have claimed the object meanwhile. Throws `lfs_object_removing`. */
async function keepPresent({ db }: LfsDeps, repositoryId: string, oid: string): Promise<void> {
  await db.write(async ({ manager, now }) => {
    if ((await findObject(manager, repositoryId, oid)) === null) throw beingRemoved();
    await manager.update(lfsObjectSchema, { repositoryId, oid }, { unreferencedSince: null, seenAt: now });
  });
}

function refuseTooLarge({ settings }: LfsDeps, bytes: number): void {
  if (bytes > settings.maxObjectSizeBytes) throw objectTooLarge(settings.maxObjectSizeBytes);
}

/**
 * A program that shares the store removes a file only if its row is marked for removal: so the row is written with that
 * mark, counts as absent, and loses the mark once the file is known to exist.
 * @param admit checks access in the write of the row and may throw; returns the uploader
 */
async function storeContent(
  deps: LfsDeps,
  repositoryId: string,
  { oid, bytes, content, frees }: IncomingObject & { frees: boolean },
  admit: (tx: Tx) => Promise<string | null>,
): Promise<void> {
  const key = objectKey(repositoryId, oid);
  await deps.objects
    .put(key, content, { maxBytes: bytes, tooLarge: damaged, expected: { bytes, sha256: oid }, frees })
    .catch((error: unknown) => {
      if (!isDomainError(error)) throw error;
      if (error.reason === 'object_damaged') throw damaged();
      // Another upload of the same bytes was first, or left a file without a row.
      if (error.reason !== 'object_exists') throw error;
    });
  await deps.inTurn(key, () => storeRow(deps, repositoryId, { oid, bytes }, admit));
  deps.logger.debug('lfs.stored', { repositoryId, oid, bytes });
}

async function storeRow(
  deps: LfsDeps,
  repositoryId: string,
  { oid, bytes }: { oid: string; bytes: number },
  admit: (tx: Tx) => Promise<string | null>,
): Promise<void> {
  const { db, objects } = deps;
  const ours = { repositoryId, oid };
  let isNew: boolean;
  try {
    isNew = await db.write(async (tx) => {
      const row = await tx.manager.findOneBy(lfsObjectSchema, ours);
      if (row?.removingAt != null) throw beingRemoved();
      const uploaderId = await admit(tx);
      if (row !== null) {
        await tx.manager.update(lfsObjectSchema, ours, { unreferencedSince: null, seenAt: tx.now });
        return false;
      }
      await tx.manager.insert(lfsObjectSchema, {
        repositoryId,
        oid,
        bytes,
        shared: false,
        uploaderId,
        arrivedAt: tx.now,
        seenAt: tx.now,
        unreferencedSince: null,
        removingAt: tx.now,
      });
      return true;
    });
  } catch (error) {
    // If a row exists, even during removal, the file does not belong to this upload.
    await removeWithoutRow(deps, { ...ours, bytes });
    throw error;
  }
  if (!isNew) return;
  // A collection or a refused upload may have removed the file before the row existed.
  const isThere = (await objects.stat(objectKey(repositoryId, oid))) !== null;
  await db.write(({ manager }) =>
    isThere ? manager.update(lfsObjectSchema, ours, { removingAt: null }) : manager.delete(lfsObjectSchema, ours),
  );
  if (!isThere)
    throw unavailable('lfs_object_gone', 'This object was removed during the upload. Try again.', {
      retryAfterSeconds: 1,
    });
}

async function compare(content: AsyncIterable<Uint8Array>, { oid, bytes }: Omit<IncomingObject, 'content'>) {
  const hash = createHash('sha256');
  let received = 0;
  for await (const chunk of content) {
    received += chunk.length;
    if (received > bytes) throw damaged();
    hash.update(chunk);
  }
  if (received !== bytes || hash.digest('hex') !== oid) throw damaged();
}

const damaged = () =>
  invalid(
    'lfs_object_damaged',
    'The received content does not match the id and size of the object. Nothing was stored.',
  );

/** Throws `lfs_verify_failed` unless the repository has the object with this size. */
export async function verifyObject(
  { db }: Pick<LfsDeps, 'db'>,
  { repository }: LfsContext,
  { oid, bytes }: { oid: string; bytes: number },
): Promise<void> {
  const row = await findObject(db.read, repository.id, oid);
  if (row === null || row.bytes !== bytes)
    throw conflict('lfs_verify_failed', 'This repository does not have this object with this size.');
}
