import { maySync, personIdOf, recordCredential, repositoryLevel, viewerForLog } from '../../access/index.ts';
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
import { mergeSource } from './merge-upstream.ts';

type Apply = (found: Pick<Found, 'repository' | 'path'>, push: ServerPush) => Promise<AppliedPush>;

const heads = 'refs/heads/';

export interface SyncOptions {
  branch?: string | undefined;
  /** Merges new commits into a branch that has commits of its own. */
  merge?: boolean | undefined;
}

/** A fork's branch compared with the branch of the same name in its source. */
export interface ForkDivergence {
  source: RepositoryAddress;
  branch: string;
  /** Commits only in the fork, and commits only in the source. */
  ahead: number;
  behind: number;
  /** The tip of the fork's branch; null if the fork does not have it. */
  oid: string | null;
  sourceOid: string;
}

/**
 * Compares a branch of a fork with its source. Null if this is not a fork, or if the viewer cannot read the source or
 * it lacks the branch. Throws `git_busy`.
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
      : // Compares from the fork to the source, so ahead and behind are swapped.
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
  /** Zeros if the fork did not have the branch; equal to `newId` if it was up to date. */
  oldId: string;
  newId: string;
  /** Whether a merge commit was created. */
  isMerge: boolean;
}

/**
 * Updates a fork's branch from its source: fetches missing objects locally, then moves the branch as a journalled and
 * announced push by the viewer. With `merge`, a branch with commits of its own gets a merge commit. Throws
 * `repository_not_found` without write access; `no_upstream` if this is not a fork or the viewer cannot read the
 * source; `invalid_branch_name`, `upstream_private` if commits of a private source would become public;
 * `upstream_branch_missing`; `fork_diverged` if the branch has commits that the source lacks; with `merge` instead
 * `merge_conflict`, and `unrelated_histories`; `branch_protected` where a rule does not allow the push;
 * `repository_archived`, `push_refused`, `ref_moved`, `disk_low`, `git_busy`.
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
  // Checked before fetching, because the objects would be discarded.
  await deps.db.write((tx) => requireRefWrite(deps, tx, viewer, found.repository));
  if (await isDiskLow(found.path, deps.settings.lowDiskFloorBytes))
    throw unavailable('disk_low', 'The server is low on disk space. Read access still works.', {
      retryAfterSeconds: 600,
    });

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
      userId: personIdOf(viewer),
      credential: recordCredential(viewer),
      updates: [update],
      async authorize(tx, row) {
        await requireRefWrite(deps, tx, viewer, row);
        // The branch only fast-forwards, so rules about rewriting do not apply.
        const { refused, linear } = await evaluateRules(deps, tx.before, viewer, row, [update]);
        const [broken] = [...refused, ...(hasMerges ? linear : [])];
        if (broken !== undefined) throw invalid('branch_protected', sentence(broken.reason), { field: 'branch' });
        await requireSource(deps, tx, viewer, source.repository.id, row);
      },
    });
    if (results[0]?.ok !== true) throw conflict('ref_moved', `${branch} has changed. Check it before you sync it.`);
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
  conflict('upstream_private', 'The source of this fork is now private. A sync would make its commits public.');

const diverged = (branch: string, { owner, name }: RepositoryAddress) =>
  conflict(
    'fork_diverged',
    `${branch} has commits that ${owner}/${name} does not have, so it cannot be fast-forwarded. Merge or rebase them.`,
  );

function parseSyncBranch(text: string): string {
  try {
    return parseBranchName(text.trim());
  } catch (cause) {
    throw invalid('invalid_branch_name', 'git does not accept this branch name.', { field: 'branch', cause });
  }
}

/** Checked again in the transaction: commits that the source now hides must not appear in the fork. */
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
