import type { ByteRange, OpenedObject } from '../../objects/index.ts';
import type { LfsDeps } from '../deps.ts';
import type { LfsContext } from '../lfs-context.ts';
import { objectLost, objectNotFound } from '../lfs-errors.ts';
import { readPointer } from '../pointers/read-pointer.ts';
import { objectKey } from '../object-key.ts';
import type { LfsObjectRow } from '../schema/lfs-schema.ts';
import { findObject } from './find-objects.ts';

/**
 * An object of a repository that the viewer may read. Throws `lfs_object_not_found`, also for objects of other
 * repositories.
 */
export async function describeObject(
  { db }: Pick<LfsDeps, 'db'>,
  { repository }: Pick<LfsContext, 'repository'>,
  oid: string,
): Promise<LfsObjectRow> {
  const row = await findObject(db.read, repository.id, oid);
  if (row === null) throw objectNotFound();
  return row;
}

/**
 * The object named by a file of a repository, for pages whose viewer may read the repository; null if the file is not a
 * pointer, or its object is missing or has another size.
 */
export async function objectOfPointer(
  { db }: Pick<LfsDeps, 'db'>,
  repositoryId: string,
  content: Buffer,
): Promise<LfsObjectRow | null> {
  const pointer = readPointer(content);
  const row = pointer === null ? null : await findObject(db.read, repositoryId, pointer.oid);
  return row !== null && row.bytes === pointer?.bytes ? row : null;
}

/** The bytes of an object, or a range of them. Throws `lfs_object_lost` if a row has no file. */
export async function openObject(
  { objects, logger, counters }: Pick<LfsDeps, 'objects' | 'logger' | 'counters'>,
  { repositoryId, oid, bytes }: Pick<LfsObjectRow, 'repositoryId' | 'oid' | 'bytes'>,
  range?: ByteRange,
): Promise<OpenedObject> {
  const opened = await objects.get(objectKey(repositoryId, oid), range);
  if (opened === null || opened.bytes !== bytes) {
    opened?.stream.destroy();
    logger.error('lfs.object_lost', { repositoryId, oid, found: opened?.bytes ?? null });
    throw objectLost();
  }
  counters.downloads += 1;
  counters.downloadedBytes += range === undefined ? bytes : range.last - range.first + 1;
  return opened;
}
