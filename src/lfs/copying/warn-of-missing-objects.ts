import type { Repository } from '../../repositories/index.ts';
import { noRef, nullIfNotFound } from '../../kernel/index.ts';
import { batchValues } from './batch-values.ts';
import { takesObjects } from './mirror-objects.ts';
import type { LfsDeps } from '../deps.ts';
import { scanPointers } from '../pointers/scan-pointers.ts';
import { lfsRepositorySchema } from '../schema/lfs-schema.ts';
import { findObjects } from '../transfers/find-objects.ts';

/** Time limit in milliseconds, because the client waits for the remark; larger pushes get none. */
const timeLimitMs = 2_000;
const stepObjects = 500;
/** Limit of named objects; above it counting stops. */
const maxNamed = 3;
const maxCounted = 1_000;
/** Limit of tips on which a push builds; with more, some files are checked again. */
const maxKnownTips = 200;
const maxAttributesBytes = 64 * 1024;

interface MovedRef {
  ref: string;
  oldId: string;
  newId: string;
}

/**
 * Lines for a user who has pushed LFS files without their content: by a client without Git LFS, or without an upload.
 * The push succeeds, because the content may follow. Only for repositories with objects, or whose `.gitattributes`
 * names LFS: for every other push this reads one file.
 */
export async function warnOfMissingObjects(
  deps: LfsDeps,
  { repository, path }: { repository: Pick<Repository, 'id'>; path: string },
  updates: readonly MovedRef[],
): Promise<string[]> {
  const arrived = updates.filter(({ newId }) => !noRef.test(newId));
  const tips = [...new Set(arrived.map(({ newId }) => newId))];
  if (tips.length === 0 || !(await takesObjects(deps, repository.id))) return [];
  const [row] = await deps.db.lookup(lfsRepositorySchema, { repositoryId: repository.id });
  if (!(row !== undefined && row.objects > 0) && !(await namesLfs(deps, path, tips[0]!))) return [];

  const moved = new Set(arrived.map(({ ref }) => ref));
  const others = (await deps.git.queries.cachedRefs(path)).idsOf('refs/', moved);
  const before = updates.map(({ oldId }) => oldId).filter((oldId) => !noRef.test(oldId));
  const range = { of: tips, without: [...before, ...others].slice(0, maxKnownTips) };
  const signal = AbortSignal.timeout(timeLimitMs);
  const missing: string[] = [];
  try {
    for await (const step of batchValues(scanPointers(deps, path, range, signal), stepObjects)) {
      const oids = step.map(({ oid }) => oid);
      const present = await findObjects(deps.db.read, repository.id, oids);
      missing.push(...oids.filter((oid) => !present.has(oid)));
      if (missing.length >= maxCounted) break;
    }
  } catch (error) {
    if (!signal.aborted) throw error;
  }
  return missing.length === 0 ? [] : describe(missing);
}

async function namesLfs({ git }: LfsDeps, path: string, tip: string): Promise<boolean> {
  const entry = await git.objects.entryAt(path, tip, '.gitattributes').catch(nullIfNotFound);
  if (entry === null || entry.type !== 'blob') return false;
  const blob = await git.objects.blob(path, entry.oid, { maxBytes: maxAttributesBytes }).catch(nullIfNotFound);
  return blob?.content?.includes('filter=lfs') ?? false;
}

function describe(missing: readonly string[]): string[] {
  const count = missing.length >= maxCounted ? `${maxCounted} or more` : String(missing.length);
  const named = missing.slice(0, maxNamed).map((oid) => oid.slice(0, 12));
  return [
    `Git LFS: the content of ${count} ${missing.length === 1 ? 'file' : 'files'} is missing here: ${named.join(', ')}${
      missing.length > maxNamed ? ', …' : ''
    }`,
    'Send it from a clone that has it: git lfs push --all <remote>',
  ];
}
