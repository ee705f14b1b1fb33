import type { Viewer } from '../../access/index.ts';
import { conflict, forbidden, invalid } from '../../kernel/index.ts';
import type { RepositoryDeps } from '../deps.ts';
import { findRepository } from '../find-repository.ts';
import type { RepositoryAddress } from '../find-repository.ts';
import { parseNewBranch, tipOf } from './change-files.ts';
import type { MoveBranch } from './change-files.ts';
import { commitPeople } from './commit-author.ts';
import { pushChannelOf } from '../pushes/push-channel.ts';

export interface RevertRequest {
  /** Full id of the commit to revert. */
  commit: string;
  branch: string;
  /** Commits to a new branch of this name, starting at `branch`. */
  newBranch?: string | undefined;
}

export interface Reverted {
  oid: string;
  branch: string;
}

/** Limit of files that an error message names. */
const namedFiles = 5;

/**
 * Reverts one commit on a branch, as a journalled push. Throws `repository_not_found` without write access,
 * `repository_archived`, `no_such_branch`, `invalid_branch_name`, `branch_exists`, `revision_not_found`,
 * `not_revertible` for merges and for a first commit, `merge_conflict` when later commits changed the same lines,
 * `nothing_changed`, `branch_protected`, `ref_moved`, `push_refused`, `git_busy`.
 */
export async function revertCommit(
  deps: RepositoryDeps,
  moveBranch: MoveBranch,
  viewer: Viewer,
  at: RepositoryAddress,
  { commit, branch: from, newBranch }: RevertRequest,
): Promise<Reverted> {
  const found = await findRepository(deps, viewer, at, 'write');
  if (found.repository.archivedAt !== null)
    throw forbidden('repository_archived', 'This repository is archived and read-only.');
  const oid = await deps.git.refs.resolve(found.path, commit, { includeUnreachable: true });
  const { parents, subject } = await deps.git.objects.commit(found.path, oid);
  const [parent] = parents;
  if (parent === undefined || parents.length > 1)
    throw invalid('not_revertible', 'Merges and initial commits can only be reverted with git.');
  const refs = await deps.git.refs.list(found.path);
  const tip = tipOf(refs, from, found);
  if (tip === null) throw invalid('not_revertible', 'The branch has no commits.');
  const branch = newBranch === undefined ? from : parseNewBranch(newBranch, refs);
  const outcome = await deps.git.merges.revert(found.path, {
    onto: tip,
    from: oid,
    to: parent,
    message: `Revert "${subject}"\n\nThis reverts commit ${oid}.`,
    ...(await commitPeople(deps, viewer)),
  });
  if (outcome.kind === 'conflict') {
    const names = outcome.files.slice(0, namedFiles).map(({ path }) => path);
    throw conflict('merge_conflict', `Later commits changed the same lines of ${names.join(', ')}.`);
  }
  if (outcome.kind !== 'merged')
    throw conflict('nothing_changed', `${from} has no changes from this commit to revert.`);
  const { isMoved } = await moveBranch(viewer, found, {
    branch,
    oldId: newBranch === undefined ? tip : '0'.repeat(tip.length),
    newId: outcome.oid,
    right: 'push',
    via: pushChannelOf(viewer),
  });
  if (!isMoved) throw conflict('ref_moved', `${branch} has changed. Try again.`);
  return { oid: outcome.oid, branch };
}
