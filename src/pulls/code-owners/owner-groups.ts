import type { OwnerGroup, Viewer } from '../../access/index.ts';
import type { IssueAt } from '../../issues/index.ts';
import type { PullDeps } from '../deps.ts';
import { findPull, pathOf } from '../find-pull.ts';
import { ownersOfFiles } from './owners-of-files.ts';
import type { OwnersOfPull } from './owners-of-files.ts';

/** The groups for the merge policy, without groups in which no user has write access: no approval would count. */
export const policyGroups = ({ groups }: OwnersOfPull): OwnerGroup[] =>
  groups
    .filter(({ writerIds }) => writerIds.length > 0)
    .map(({ pattern, writerIds }) => ({ pattern, userIds: writerIds }));

/**
 * The owners of the changed files, and the errors in the code owners file. Throws the errors of `findPull` and
 * `git_busy`.
 */
export async function ownersOf(deps: PullDeps, viewer: Viewer, at: IssueAt): Promise<OwnersOfPull> {
  const { repository, pull } = await findPull(deps, viewer, at);
  return ownersOfFiles(deps, pathOf(deps, repository), repository, pull);
}
