import type { BlobRange } from '../../git/index.ts';
import type { OpenedObject } from '../../objects/index.ts';
import { batchValues } from './batch-values.ts';
import type { LfsDeps } from '../deps.ts';
import type { LfsPointer } from '../pointers/read-pointer.ts';
import { scanPointers } from '../pointers/scan-pointers.ts';
import { readObjectsInBatches } from '../gc/read-in-batches.ts';
import { lfsRepositorySchema } from '../schema/lfs-schema.ts';
import { findObjects } from '../transfers/find-objects.ts';
import { openObject } from '../transfers/open-object.ts';

/** Number of objects in one LFS request to a server. */
const stepObjects = 100;

/** Whether a repository accepts objects: LFS is on for the server and the repository. */
export async function takesObjects({ db, settings }: LfsDeps, repositoryId: string): Promise<boolean> {
  const [row] = await db.lookup(lfsRepositorySchema, { repositoryId });
  return settings.enabled && row?.isEnabled !== false;
}

/** Objects named by files of these commits and missing in the repository, in batches. */
export async function* missingObjects(
  deps: LfsDeps,
  repositoryId: string,
  path: string,
  range: BlobRange,
): AsyncGenerator<LfsPointer[]> {
  for await (const { step, present } of pointersWithRows(deps, repositoryId, path, range)) {
    const missing = step.filter(({ oid }) => !present.has(oid));
    if (missing.length > 0) yield missing;
  }
}

/** Objects named by files of these commits and present in the repository, in batches. */
export async function* presentObjects(
  deps: LfsDeps,
  repositoryId: string,
  path: string,
  range: BlobRange,
): AsyncGenerator<LfsPointer[]> {
  for await (const { step, present } of pointersWithRows(deps, repositoryId, path, range)) {
    const here = step.filter(({ oid, bytes }) => present.get(oid)?.bytes === bytes);
    if (here.length > 0) yield here;
  }
}

async function* pointersWithRows(deps: LfsDeps, repositoryId: string, path: string, range: BlobRange) {
  for await (const step of batchValues(scanPointers(deps, path, range), stepObjects)) {
    const oids = step.map(({ oid }) => oid);
    yield { step, present: await findObjects(deps.db.read, repositoryId, oids) };
  }
}

/** An object in an export. */
interface ExportedObject extends LfsPointer {
  open(): Promise<OpenedObject>;
}

/** All objects of a repository that no scan has found unreferenced, for an export. */
export async function* exportObjects(deps: LfsDeps, repositoryId: string): AsyncGenerator<ExportedObject> {
  for await (const rows of readObjectsInBatches(deps, repositoryId))
    for (const row of rows)
      if (row.removingAt === null && row.unreferencedSince === null)
        yield { oid: row.oid, bytes: row.bytes, open: () => openObject(deps, row) };
}
