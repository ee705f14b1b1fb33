import { createHash } from 'node:crypto';
import { isDomainError } from '../../kernel/index.ts';
import type { LfsDeps } from '../deps.ts';
import { objectKey } from '../object-key.ts';
import type { LfsObjectRow } from '../schema/lfs-schema.ts';
import { readObjectsInBatches, readRepositoriesInBatches } from '../gc/read-in-batches.ts';
import { trashPrefix } from '../gc/remove-files.ts';

/** An object that does not match its row. */
export interface LfsFault {
  repositoryId: string;
  oid: string;
  bytes: number;
  fault: 'missing' | 'size' | 'digest';
  /** Whether the content was in the trash and has been restored. */
  restored: boolean;
}

interface CheckedObjects {
  repositories: number;
  objects: number;
  bytes: number;
  faults: LfsFault[];
}

interface CheckOptions {
  /** Whether to read and hash every byte; otherwise only sizes are compared. */
  readsAll: boolean;
  /** Whether to restore missing content from the trash. */
  restores: boolean;
  repositoryIds?: readonly string[] | undefined;
}

/** Limit of reported faults: after the loss of its store, an instance does not need millions of lines. */
const maxFaults = 1_000;

/** Compares rows with files: existence, size and digest. */
export async function checkObjects(deps: LfsDeps, options: CheckOptions): Promise<CheckedObjects> {
  const result: CheckedObjects = { repositories: 0, objects: 0, bytes: 0, faults: [] };
  const steps = options.repositoryIds === undefined ? readRepositoriesInBatches(deps) : [options.repositoryIds];
  for await (const ids of steps)
    for (const repositoryId of ids) {
      result.repositories += 1;
      for await (const rows of readObjectsInBatches(deps, repositoryId))
        for (const row of rows) {
          if (row.removingAt !== null) continue;
          result.objects += 1;
          result.bytes += row.bytes;
          const fault = await faultOf(deps, row, options.readsAll);
          if (fault === null || result.faults.length >= maxFaults) continue;
          const restored = fault === 'missing' && options.restores && (await restore(deps, row));
          result.faults.push({ repositoryId, oid: row.oid, bytes: row.bytes, fault, restored });
        }
    }
  return result;
}

async function faultOf(
  { objects }: LfsDeps,
  { repositoryId, oid, bytes }: LfsObjectRow,
  readsAll: boolean,
): Promise<LfsFault['fault'] | null> {
  const key = objectKey(repositoryId, oid);
  const found = await objects.stat(key);
  if (found === null) return 'missing';
  if (found.bytes !== bytes) return 'size';
  if (!readsAll) return null;
  const opened = await objects.get(key);
  if (opened === null) return 'missing';
  const hash = createHash('sha256');
  for await (const chunk of opened.stream) hash.update(chunk as Buffer);
  return hash.digest('hex') === oid ? null : 'digest';
}

async function restore({ objects }: LfsDeps, { repositoryId, oid }: LfsObjectRow): Promise<boolean> {
  for await (const { key } of objects.list(trashPrefix)) {
    if (!key.endsWith(`/${repositoryId}/${oid}`)) continue;
    return objects.link(key, objectKey(repositoryId, oid)).catch((error: unknown) => {
      if (isDomainError(error) && error.reason === 'object_exists') return true;
      throw error;
    });
  }
  return false;
}
