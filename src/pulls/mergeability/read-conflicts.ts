import type { Viewer } from '../../access/index.ts';
import type { Conflicts } from '../../git/index.ts';
import type { IssueAt } from '../../issues/index.ts';
import type { PullDeps } from '../deps.ts';
import { findPull } from '../find-pull.ts';
import { mergeBaseOf } from '../stacks/stacked-pulls.ts';
import { mergeStateOf } from './compute-merge-state.ts';

/** The conflicts of a pull request with its base branch. */
export interface PullConflicts extends Conflicts {
  /** The two conflicting commits: the tip of the base branch, and the head of the last round. */
  baseOid: string;
  headOid: string;
}

/**
 * The conflicts of an open pull request with its base branch, file by file; null if it merges. Both sides are commits
 * of the repository: the head is that of the last round, never a newer one of a fork, so readers of the repository may
 * read both. Slow on first use. Throws the errors of `findPull`, `git_busy`, and `internal` for a merge beyond the
 * limits.
 */
export async function readConflicts(deps: PullDeps, viewer: Viewer, at: IssueAt): Promise<PullConflicts | null> {
  const { path } = await deps.repositories.find(viewer, at.owner, at.name);
  const { pull } = await findPull(deps, viewer, at);
  if (!pull.isOpen) return null;
  const { mergeState, mergeStateOnto: baseOid } = await mergeStateOf(deps, path, pull);
  if (mergeState !== 'CONFLICT' || baseOid === null) return null;
  const { headOid } = pull;
  const base = await mergeBaseOf(deps, path, pull, baseOid);
  const conflicts = await deps.git.merges.conflicts(path, { onto: baseOid, head: headOid, base });
  return conflicts && { baseOid, headOid, ...conflicts };
}
