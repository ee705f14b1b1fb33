import { isLocalAdministrator, maySync, recordCredential, repositoryLevel, viewerForLog } from '../../access/index.ts';
import type { Viewer } from '../../access/index.ts';
import type { Tx } from '../../db/index.ts';
import { conflict, invalid, noRef, unavailable } from '../../kernel/index.ts';
import { parseBranchName } from '../branch-name.ts';
import type { RepositoryDeps } from '../deps.ts';
import { isDiskLow } from '../disk-space.ts';
import { findRepository, repositoryFacts } from '../find-repository.ts';
import type { Found, RepositoryAddress } from '../find-repository.ts';
import type { AppliedPush, ServerPush } from '../pushes/apply-updates.ts';
import { requireRefWrite } from '../pushes/require-ref-write.ts';
import type { RefUpdate } from '../pushes/push-journal.ts';
import { evaluateRules } from '../rules/evaluate-rules.ts';
import { sentence } from '../rules/describe-rule.ts';
import { repositorySchema } from '../schema/repository-schema.ts';
import type { Repository } from '../schema/repository-schema.ts';
import { readableSource } from './fork-relations.ts';
import { mergeSource } from './merge-source.ts';

type Apply = (found: Pick<Found, 'repository' | 'path'>, push: ServerPush) => Promise<AppliedPush>;

const heads = 'refs/heads/';

export interface SyncOptions {
  branch?: string | undefined;
  /** Merges what is new into a branch with commits of its own. */
  merge?: boolean | undefined;
}

/** A branch of a fork beside the branch of the same name in its source. */
export interface ForkDivergence {
  source: RepositoryAddress;
  branch: string;
  /** Commits that only the fork has, and that only the source has. */
  ahead: number;
  behind: number;
  /** The commit of the fork's branch; null for a branch that the fork does not have. */
  oid: string | null;
  sourceOid: string;
}

/**
 * Compares a branch of a fork with its source. Null for no fork, for a source that the viewer may not read or that
 * has no such branch. Refuses `git_busy`.
 */
export async function compareWithSource(
  deps: RepositoryDeps,
  viewer: Viewer,
  { repository, path }: Pick<Found, 'repository' | 'path'>,
  branch: string,
): Promise<ForkDivergence | null> {
  const source = await readableSource(deps, viewer, repository);
  if (source === null || !maySync(source.repository, repository)) return null;
  const sourcePath = deps.git.storage.pathOf(source.owner.id, source.repository.id);
  const [there, here] = await Promise.all([
    deps.git.queries.cachedRefs(sourcePath),
    deps.git.queries.cachedRefs(path),
  ]).catch((error: NodeJS.ErrnoException) => {
    // The source is moving to another owner or to the trash.
    if (error.code === 'ENOENT') return [null, null];
    throw error;
  });
  const sourceOid = there?.get(heads + branch);
  if (sourceOid === undefined) return null;
  const oid = here?.get(heads + branch) ?? null;
  const distance =
    oid === null
      ? { ahead: 0, behind: 0 }
      : // From the fork to the source: what is ahead there is behind here.
        await deps.git.queries.distanceBetween(path, oid, sourcePath, sourceOid);
  return {
    source: { owner: source.owner.handle, name: source.repository.name },
    branch,
    ahead: distance.behind,
    behind: distance.ahead,
    oid,
    sourceOid,
  };
}

interface SyncedBranch {
  branch: string;
  source: RepositoryAddress;
  /** Zeros for a branch that the fork did not have; equal to `newId` when nothing was to be done. */
  oldId: string;
  newId: string;
  /** Whether a merge commit was made. */
  isMerge: boolean;
}

/**
 * Brings a branch of a fork to where it is in the source: the missing objects are fetched on this machine, then the
 * branch moves as a push of the person, journalled and announced. A branch with commits of its own gets a merge commit
 * when `merge` is set. Refuses `repository_not_found` to people who may not write; `no_upstream` for no fork, and when
 * the viewer may not read the source; `invalid_branch_name`, `upstream_private` when commits of a private source would
 * become public; `upstream_branch_missing`; `fork_diverged` when the branch has commits that the source has not;
 * with `merge` instead `merge_conflict`, and `unrelated_histories`; `branch_protected` where a rule does not allow the
 * push; `repository_archived`, `push_refused`, `ref_moved`, `disk_low`, `git_busy`.
 * @param branch defaults to the default branch of the fork
 */
export async function syncFork(
  deps: RepositoryDeps,
  apply: Apply,
  viewer: Viewer,
  at: RepositoryAddress,
  { branch: wanted, merge = false }: SyncOptions = {},
): Promise<SyncedBranch> {
  const found = await findRepository(deps, viewer, at, 'write');
  const source = await readableSource(deps, viewer, found.repository);
  if (source === null) throw noUpstream();
  if (!maySync(source.repository, found.repository)) throw wouldPublish();
  const branch = wanted === undefined || wanted === '' ? found.repository.defaultBranch : parseSyncBranch(wanted);
  const address = { owner: source.owner.handle, name: source.repository.name };
  const sourcePath = deps.git.storage.pathOf(source.owner.id, source.repository.id);
  const sourceOid = await deps.git.refs.tip(sourcePath, heads + branch);
  if (sourceOid === null)
    throw invalid('upstream_branch_missing', `${address.owner}/${address.name} has no branch ${branch}.`, {
      field: 'branch',
    });
  const oldId = (await deps.git.refs.tip(found.path, heads + branch)) ?? '0'.repeat(sourceOid.length);
  if (oldId === sourceOid) return { branch, source: address, oldId, newId: oldId, isMerge: false };
  // Before anything is fetched: it would be thrown away.
  await deps.db.write((tx) => requireRefWrite(deps, tx, viewer, found.repository));
  if (await isDiskLow(found.path, deps.settings.lowDiskFloorBytes))
    throw unavailable('disk_low', 'The server is low on disk space; reading still works.', { retryAfterSeconds: 600 });

  const refName = deps.random.uuid();
  try {
    const fetched = await deps.git.remotes.fetchLocal(found.path, sourcePath, branch, refName);
    await deps.copying.port?.onFetch({ from: sourcePath, into: found.path, oid: fetched });
    const isForward = noRef.test(oldId) || (await deps.git.refs.isForward(found.path, oldId, fetched));
    if (!isForward && !merge) throw diverged(branch, address);
    const newId = isForward
      ? fetched
      : await mergeSource(deps, viewer, { path: found.path, onto: oldId, head: fetched, branch, source: address });
    if (newId === oldId) return { branch, source: address, oldId, newId, isMerge: false };
    const update: RefUpdate = { ref: heads + branch, oldId, newId };
    const hasMerges = await deps.git.refs.hasNewMerges(found.path, update);
    const { results } = await apply(found, {
      via: 'sync',
      userId: viewer.kind === 'person' && !isLocalAdministrator(viewer) ? viewer.id : null,
      credential: recordCredential(viewer),
      updates: [update],
      async authorize(tx, row) {
        await requireRefWrite(deps, tx, viewer, row);
        // It only moves forward, so what the rules say of rewriting does not matter.
        const { refused, linear } = await evaluateRules(deps, tx.before, viewer, row, [update]);
        const [broken] = [...refused, ...(hasMerges ? linear : [])];
        if (broken !== undefined) throw invalid('branch_protected', sentence(broken.reason), { field: 'branch' });
        await requireSource(deps, tx, viewer, source.repository.id, row);
      },
    });
    if (results[0]?.ok !== true) throw conflict('ref_moved', `${branch} has changed. Look again before you sync it.`);
    deps.logger.info('push.synced', {
      repositoryId: found.repository.id,
      source: source.repository.id,
      ref: heads + branch,
      from: oldId,
      to: newId,
      by: viewerForLog(viewer),
    });
    return { branch, source: address, oldId, newId, isMerge: !isForward };
  } finally {
    await deps.git.objects
      .release(found.path, [`sync/${refName}`])
      .catch((error: unknown) => deps.logger.warn('push.sync_leftovers', { repositoryId: found.repository.id, error }));
  }
}

const noUpstream = () => conflict('no_upstream', 'This repository has no source on this server to sync from.');

const wouldPublish = () =>
  conflict('upstream_private', 'The source of this fork is now private: its commits would become public here.');

const diverged = (branch: string, { owner, name }: RepositoryAddress) =>
  conflict(
    'fork_diverged',
    `${branch} has commits that ${owner}/${name} does not have, so it cannot be fast-forwarded. Merge or rebase them.`,
  );

function parseSyncBranch(text: string): string {
  try {
    return parseBranchName(text.trim());
  } catch (cause) {
    throw invalid('invalid_branch_name', 'This is not a branch name that git accepts.', { field: 'branch', cause });
  }
}

/** Asked again in the write: what the source hides by now must not become visible in the fork. */
async function requireSource(
  deps: RepositoryDeps,
  tx: Tx,
  viewer: Viewer,
  sourceId: string,
  fork: Repository,
): Promise<void> {
  const row = await tx.manager.findOneBy(repositorySchema, { id: sourceId });
  if (row === null || row.deletedAt !== null) throw noUpstream();
  const facts = await repositoryFacts(deps, tx.manager, viewer.kind === 'person' ? viewer.id : null, row);
  if (repositoryLevel(viewer, facts) === 'none') throw noUpstream();
  if (!maySync(row, fork)) throw wouldPublish();
}
