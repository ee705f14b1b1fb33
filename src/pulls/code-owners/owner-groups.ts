import type { OwnerGroup, Viewer } from '../../access/index.ts';
import type { IssueAt } from '../../issues/index.ts';
import type { PullDeps } from '../deps.ts';
import { findPull, pathOf } from '../find-pull.ts';
import { ownersOfFiles } from './owners-of-files.ts';
import type { OwnersOfPull } from './owners-of-files.ts';

/**
 * The groups as the policy of merging reads them; without those of whom no person may write: no approval would count.
 */
export const policyGroups = ({ groups }: OwnersOfPull): OwnerGroup[] =>
  groups
    .filter(({ writerIds }) => writerIds.length > 0)
    .map(({ pattern, writerIds }) => ({ pattern, userIds: writerIds }));

/** The owners of the changed files, and what is wrong in the file of owners. Refuses as `findPull`, `git_busy`. */
export async function ownersOf(deps: PullDeps, viewer: Viewer, at: IssueAt): Promise<OwnersOfPull> {
  const { repository, pull } = await findPull(deps, viewer, at);
  return ownersOfFiles(deps, pathOf(deps, repository), repository, pull);
}
