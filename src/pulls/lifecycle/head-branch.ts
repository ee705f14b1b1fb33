import type { Viewer } from '../../access/index.ts';
import type { IssueAt } from '../../issues/index.ts';
import { conflict, invalid } from '../../kernel/index.ts';
import type { PullDeps } from '../deps.ts';
import { findPull } from '../find-pull.ts';
import type { PullContext } from '../find-pull.ts';
import { headOf } from '../head-label.ts';
import { tipOfHead } from '../merging/merge-box.ts';

/**
 * Deletes the head branch of a merged or closed pull request if it has no other commits. Throws `pull_open`,
 * `head_gone`, `branch_has_more`, and the errors of deleting a branch.
 */
export async function deleteHeadBranch(deps: PullDeps, viewer: Viewer, at: IssueAt): Promise<void> {
  const context = await findPull(deps, viewer, at);
  const { issue, pull, repository } = context;
  if (issue.state === 'OPEN') throw invalid('pull_open', 'The pull request is open, so its branch cannot be deleted.');
  const head = await headOf(deps, viewer, repository, pull);
  const tip = await tipOfHead(deps, head);
  if (head.repository === null || head.branch === null || tip === null)
    throw conflict('head_gone', 'The branch no longer exists.');
  if (tip !== pull.headOid)
    throw conflict(
      'branch_has_more',
      'The branch has commits that are not part of the pull request. Delete it from the list of branches.',
    );
  const { owner, repository: there } = head.repository;
  await deps.repositories.branches.delete(viewer, owner.handle, there.name, { name: head.branch, expected: tip });
  await note(deps, viewer, context, 'branch_deleted', head.branch);
}

/**
 * Restores the head branch at the last round. Throws `head_elsewhere` for a fork, where its owner must restore it, and
 * the errors of creating a branch.
 */
export async function restoreHeadBranch(deps: PullDeps, viewer: Viewer, at: IssueAt): Promise<void> {
  const context = await findPull(deps, viewer, at);
  const { pull, repository } = context;
  if (pull.headBranch === null || pull.headRepositoryId !== repository.id)
    throw invalid('head_elsewhere', 'Only a branch of this repository can be restored here.');
  await deps.repositories.branches.create(viewer, at.owner, at.name, { name: pull.headBranch, from: pull.headOid });
  await note(deps, viewer, context, 'branch_restored', pull.headBranch);
}

/** Records the change in the log; needs no permission check, because the branch has already changed. */
async function note(
  deps: PullDeps,
  viewer: Viewer,
  { issue }: PullContext,
  kind: 'branch_deleted' | 'branch_restored',
  branch: string,
): Promise<void> {
  await deps.issues.pulls.write(viewer, async (log) => {
    const now = await deps.issues.pulls.issueInWrite(log.tx, viewer, issue, 'read');
    await log.append(now.issue, { kind, details: { branch }, touches: false });
  });
}
