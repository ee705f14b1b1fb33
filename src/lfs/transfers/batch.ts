import { readableSize } from '../../kernel/index.ts';
import type { Viewer } from '../../access/index.ts';
import { inList } from '../../db/index.ts';
import type { LfsDeps } from '../deps.ts';
import type { LfsContext } from '../lfs-context.ts';
import { isOid } from '../object-key.ts';
import type { LfsObjectRow } from '../schema/lfs-schema.ts';
import type { LfsOperation } from '../tokens/transfer-token.ts';
import { findObjects } from './find-objects.ts';
import { refuseOverQuota } from './quota.ts';

/** An object as named by a client, unchecked. */
export interface NamedObject {
  oid: unknown;
  size: unknown;
}

/** The action for an object: a transfer, nothing, or an error. `status` is an HTTP status. */
export type BatchEntry = { oid: string; size: number } & (
  | { act: LfsOperation | 'nothing' }
  | { act: 'refuse'; status: 404 | 422; message: string }
);

/**
 * The transfers that a client needs for these objects (Git LFS Batch API). An upload is refused as a whole with
 * `lfs_quota` if the missing objects exceed the quota together. Existing objects are marked as needed, so that none is
 * collected between this response and the push that names it.
 */
export async function planBatch(
  deps: LfsDeps,
  viewer: Viewer,
  context: LfsContext,
  operation: LfsOperation,
  named: readonly NamedObject[],
): Promise<BatchEntry[]> {
  const repositoryId = context.repository.id;
  const oids = [...new Set(named.flatMap(({ oid }) => (isOid(oid) ? [oid] : [])))];
  const rows = await findObjects(deps.db.read, repositoryId, oids);
  const plan = named.map((object) => entryOf(deps, operation, object, rows));
  if (operation === 'upload') {
    const missing = new Map(plan.flatMap(({ act, oid, size }) => (act === 'upload' ? [[oid, size]] : [])));
    const bytes = [...missing.values()].reduce((sum, size) => sum + size, 0);
    if (bytes > 0) await refuseOverQuota(deps, deps.db.read, viewer, context, bytes);
    await keepReferenced(deps, repositoryId, [...rows.values()]);
  }
  return plan;
}

function entryOf(
  { settings }: Pick<LfsDeps, 'settings'>,
  operation: LfsOperation,
  { oid, size }: NamedObject,
  rows: ReadonlyMap<string, LfsObjectRow>,
): BatchEntry {
  const named = { oid: typeof oid === 'string' ? oid.slice(0, 100) : '', size: typeof size === 'number' ? size : 0 };
  const refuse = (status: 404 | 422, message: string): BatchEntry => ({ ...named, act: 'refuse', status, message });
  if (!isOid(oid)) return refuse(422, 'The id of an object is a SHA-256 in lower-case hex.');
  if (typeof size !== 'number' || !Number.isSafeInteger(size) || size < 0)
    return refuse(422, 'The size of an object is a whole number of bytes.');
  const row = rows.get(oid);
  if (row !== undefined && row.bytes !== size) return refuse(422, `This object has ${row.bytes} bytes, not ${size}.`);
  if (operation === 'download')
    return row === undefined
      ? refuse(404, 'This repository has no such object. Push it again from a clone that has it.')
      : { ...named, act: 'download' };
  if (row !== undefined) return { ...named, act: 'nothing' };
  if (size > settings.maxObjectSizeBytes)
    return refuse(
      422,
      `A file stored with Git LFS may have at most ${readableSize(settings.maxObjectSizeBytes)} here.`,
    );
  return { ...named, act: 'upload' };
}

/** Marks objects as needed that no scan has found in use. */
async function keepReferenced({ db }: LfsDeps, repositoryId: string, rows: readonly LfsObjectRow[]): Promise<void> {
  const doubtful = rows.filter(({ unreferencedSince }) => unreferencedSince !== null).map(({ oid }) => oid);
  if (doubtful.length === 0) return;
  await db.write(({ manager, now }) =>
    manager.query(
      `UPDATE lfs_objects SET unreferenced_since = NULL, seen_at = ? WHERE repository_id = ? AND ${inList('oid')}`,
      [now, repositoryId, JSON.stringify(doubtful)],
    ),
  );
}
