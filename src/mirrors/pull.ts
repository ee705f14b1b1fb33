import { localAdministrator } from '../access/index.ts';
import { internal, isBranchOrTag, isDomainError, noRef, unavailable } from '../kernel/index.ts';
import type { Remote } from '../git/index.ts';
import type { Located, RefUpdate } from '../repositories/index.ts';
import { parseBranchName } from '../repositories/index.ts';
import { fetchLfsObjects } from './mirror-lfs.ts';
import type { MirrorRow } from './mirror-schema.ts';
import { openAllowance, refuseOutgrown } from './copy-allowance.ts';
import type { MirrorDeps } from './deps.ts';

/** Limit of known refs, whose objects are surely here. */
const maxKnownTips = 2_000;
/** Limit of ref updates per journal entry, as for a push. */
const maxUpdates = 100_000;

/**
 * Updates a repository to the state of the remote. Fetches objects first, under hidden names; then moves the refs as an
 * announced push. Overwritten tips are preserved, as after any forced push. Throws `remote_failed`, `remote_too_large`,
 * `copy_too_large`, `too_many_refs`, and errors of `applyUpdates`.
 * @returns the number of moved refs
 */
export async function pull(
  deps: MirrorDeps,
  located: Located,
  row: Pick<MirrorRow, 'prune' | 'lastOkAt' | 'failures' | 'isCopy'>,
  remote: Remote,
  signal: AbortSignal,
): Promise<number> {
  const { git, repositories, logger } = deps;
  const { repository, path } = located;
  const progress = (text: string): void => void deps.progress.set(repository.id, text);
  const { head, refs: there } = await git.remotes.list(remote, { signal });
  if (there.size > maxUpdates)
    throw unavailable('too_many_refs', `The remote has more than ${maxUpdates} branches and tags.`);
  const allowance = row.isCopy ? await openAllowance(deps, located) : null;
  await git.remotes.fetch(path, remote, { signal, progress, maxBytes: allowance?.left }).catch((error: unknown) => {
    throw allowance !== null && isDomainError(error) && error.reason === 'remote_too_large'
      ? allowance.tooLarge()
      : error;
  });
  if (allowance !== null) await refuseOutgrown(deps, located, allowance);
  const here = await git.refs.list(path);
  const known = [...new Set(here.values())].slice(0, maxKnownTips);
  const updates = diffRefs(here, await git.remotes.fetchedRefs(path), row.prune);
  let moved = 0;
  if (updates.length > 0) {
    const { results } = await repositories.pushes.applyUpdates(located, { via: 'mirror', userId: null, updates });
    const refused = results.filter(({ ok }) => !ok);
    moved = results.length - refused.length;
    // A single invalid ref name must not block the others for ever.
    if (refused.length > 0)
      logger.warn('mirror.refs_refused', { repositoryId: repository.id, refused: refused.slice(0, 20) });
    if (moved === 0) throw internal('no ref of the remote could be fetched', { cause: refused[0] });
  }
  // The first transfer also sets the remote's default branch; for a copy every transfer does.
  const { owner } = located;
  const { name, defaultBranch } = repository;
  const takesHead = row.lastOkAt === null || (row.isCopy && head !== defaultBranch);
  if (takesHead && head !== null && there.has(`refs/heads/${head}`)) {
    await repositories
      .edit(localAdministrator, owner.handle, name, { defaultBranch: parseBranchName(head) })
      .catch((error: unknown) => logger.warn('mirror.head_not_set', { repositoryId: repository.id, error }));
  }
  // After a failure, missing objects may belong to earlier commits.
  const isAll = row.lastOkAt === null || row.failures > 0;
  const range = { of: updates.map(({ newId }) => newId).filter(isCommit), without: known };
  if (isAll || range.of.length > 0)
    await fetchLfsObjects(deps, located, remote, isAll ? 'all' : range, signal, allowance);
  return moved;
}

const isCommit = (oid: string): boolean => !noRef.test(oid);

/** The ref updates that turn `here` into `there`. */
export function diffRefs(
  here: ReadonlyMap<string, string>,
  there: ReadonlyMap<string, string>,
  prune: boolean,
): RefUpdate[] {
  const updates: RefUpdate[] = [];
  for (const [ref, newId] of there) {
    const oldId = here.get(ref) ?? '0'.repeat(newId.length);
    if (oldId !== newId) updates.push({ ref, oldId, newId });
  }
  // An empty remote is more likely a fault than intended.
  if (!prune || there.size === 0) return updates;
  for (const [ref, oldId] of here) {
    if (isBranchOrTag(ref) && !there.has(ref)) updates.push({ ref, oldId, newId: '0'.repeat(oldId.length) });
  }
  return updates;
}
