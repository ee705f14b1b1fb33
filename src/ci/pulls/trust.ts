import { anonymous, personViewer, trustInCode } from '../../access/index.ts';
import type { CodeTrust } from '../../access/index.ts';
import type { Git } from '../../git/index.ts';
import type { PullCode } from '../../pulls/index.ts';
import type { Located } from '../../repositories/index.ts';
import type { CiDeps } from '../deps.ts';
import { decidesAboutWorkflows } from '../workflows/find-workflows.ts';
import type { PullRunDeps } from '../ports/pull-deps.ts';
import { isHeadApproved } from './runs-awaiting-approval.ts';

/** The commits of a trial merge. */
export interface TrialMerge {
  baseTip: string;
  mergeOid: string;
}

/** Current trust level of the code of a pull request; `src/access` decides it. */
export async function trustOfPull(
  deps: CiDeps,
  { issues, pulls }: PullRunDeps,
  { repository, path }: Located,
  number: number,
  { pull, round }: PullCode,
  merge: TrialMerge,
): Promise<CodeTrust> {
  const submitter = round.submitterId === null ? anonymous : personViewer(round.submitterId, 'write');
  const { facts, settings } = await issues.pulls.contextOf(deps.db.lookup, submitter, repository);
  const place = { repositoryId: repository.id, number };
  const hasMerged =
    settings.ciApproval === 'first_time' &&
    round.submitterId !== null &&
    (await pulls.hasMerged(repository.id, round.submitterId));
  return trustInCode(submitter, facts, settings.ciApproval, {
    isPushedHere: pull.source === 'BRANCH' || pull.source === 'PUSH',
    isHeadApproved: await isHeadApproved(deps, place, { oid: round.headOid, baseBranch: pull.baseBranch }),
    hasMerged,
    changesWorkflows: !hasMerged || (await changesWorkflows(deps.git, path, merge)),
  });
}

const maxChangedPaths = 3_000;

/** Whether a merge changes workflows of its base; true if it changes too many files to list. */
export async function changesWorkflows(git: Git, path: string, { baseTip, mergeOid }: TrialMerge): Promise<boolean> {
  const paths = await git.objects.changedPaths(path, baseTip, mergeOid, { limit: maxChangedPaths });
  return paths === null || paths.some(decidesAboutWorkflows);
}
