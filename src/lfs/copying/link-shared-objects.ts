import path from 'node:path';
import type { EntityManager } from 'typeorm';
import { rowsTable } from '../../db/index.ts';
import { eachLimit, isDomainError } from '../../kernel/index.ts';
import type { CopyPort } from '../../repositories/index.ts';
import type { LfsDeps } from '../deps.ts';
import { batchValues } from './batch-values.ts';
import { objectKey } from '../object-key.ts';
import { scanPointers } from '../pointers/scan-pointers.ts';
import type { LfsPointer } from '../pointers/read-pointer.ts';
import { lfsRepositorySchema } from '../schema/lfs-schema.ts';
import { findObjects } from '../transfers/find-objects.ts';

/** Number of links created concurrently: each waits for the disk. */
const linksAtOnce = 16;
/** Number of objects that one step links and records. */
const stepObjects = 500;
/** Limit of known branches, whose objects the target surely has; with more, some pointers are checked again. */
const maxKnownTips = 200;

interface LinkedObject {
  oid: string;
  bytes: number;
}

/**
 * Objects follow commits between repositories of this server: into forks, from forks into the repositories of pull
 * requests, and back when a fork is synchronised. Only objects named by files of the commits; each is a hard link, so
 * it takes no additional space.
 */
export function createObjectLinker(deps: LfsDeps): CopyPort {
  return {
    async prepareFork({ sourceId, forkId, path: folder }) {
      const linked: LinkedObject[] = [];
      const undo = async (): Promise<void> => {
        for (const { oid } of linked) await deps.objects.remove(objectKey(forkId, oid));
      };
      if (!(await hasObjects(deps, sourceId))) return { record: async () => {}, undo };
      try {
        for await (const step of batchValues(scanPointers(deps, folder, 'all'), stepObjects))
          linked.push(...(await linkObjects(deps, sourceId, forkId, step)));
      } catch (error) {
        await undo();
        throw error;
      }
      return { record: (tx) => record(tx.manager, tx.now, forkId, linked), undo };
    },

    async onFetch({ from, into, oid }) {
      const [fromId, intoId] = [from, into].map((folder) => path.basename(folder, '.git')) as [string, string];
      try {
        if (!(await hasObjects(deps, fromId))) return;
        const known = [...(await deps.git.refs.list(into)).entries()].filter(([ref]) => ref.startsWith('refs/heads/'));
        const without = known.slice(0, maxKnownTips).map(([, tip]) => tip);
        for await (const step of batchValues(scanPointers(deps, into, { of: [oid], without }), stepObjects))
          await copyMissing(deps, fromId, intoId, step);
      } catch (error) {
        // The commits are useful even without objects; clients and pages name missing ones.
        deps.logger.error('lfs.copy_failed', { from: fromId, into: intoId, oid, error });
      }
    },
  };
}

async function hasObjects({ db }: LfsDeps, repositoryId: string): Promise<boolean> {
  const [row] = await db.lookup(lfsRepositorySchema, { repositoryId });
  return row !== undefined && row.objects > 0;
}

async function copyMissing(deps: LfsDeps, from: string, into: string, step: readonly LfsPointer[]): Promise<void> {
  const present = await findObjects(
    deps.db.read,
    into,
    step.map(({ oid }) => oid),
  );
  const missing = step.filter(({ oid }) => !present.has(oid));
  const linked = await linkObjects(deps, from, into, missing);
  if (linked.length > 0) await deps.db.write(({ manager, now }) => record(manager, now, into, linked));
}

/** Links the objects that the source has; an existing one also counts as linked. */
async function linkObjects(
  deps: LfsDeps,
  from: string,
  into: string,
  pointers: readonly LfsPointer[],
): Promise<LinkedObject[]> {
  const rows = await findObjects(
    deps.db.read,
    from,
    pointers.map(({ oid }) => oid),
  );
  const linked: LinkedObject[] = [];
  await eachLimit(rows.values(), linksAtOnce, async ({ oid, bytes }) => {
    const isLinked = await deps.objects.link(objectKey(from, oid), objectKey(into, oid)).catch((error: unknown) => {
      if (isDomainError(error) && error.reason === 'object_exists') return true;
      throw error;
    });
    if (isLinked) linked.push({ oid, bytes });
    else deps.logger.error('lfs.object_lost', { repositoryId: from, oid, found: null });
  });
  return linked;
}

/** An object uploaded meanwhile keeps its row; the next push copies an object that is being removed. */
async function record(
  manager: EntityManager,
  now: number,
  repositoryId: string,
  linked: readonly LinkedObject[],
): Promise<void> {
  if (linked.length === 0) return;
  await manager.query(
    `INSERT INTO lfs_objects (repository_id, oid, bytes, shared, arrived_at, seen_at)
      SELECT CAST(? AS TEXT), list.oid, list.bytes, 1, CAST(? AS BIGINT), CAST(? AS BIGINT) FROM ${rowsTable({ oid: 'text', bytes: 'bigint' })} WHERE true
      ON CONFLICT (repository_id, oid) DO NOTHING`,
    [repositoryId, now, now, JSON.stringify(linked.map(({ oid, bytes }) => [oid, bytes]))],
  );
}
