import type { IssueRepositoryFacts } from './issue-rights.ts';
import { isTrustedWithCi } from './pull-rights.ts';
import type { Viewer } from './viewer.ts';

/**
 * Whose pull requests need approval before their workflows run: users without write access, or those without a merged
 * pull request.
 */
export type CiApproval = 'everyone' | 'first_time';

/** Facts about the code of a pull request. */
export interface CodeFacts {
  /** Whether it was pushed to this repository, as a branch or to `refs/for`; false for a fork's code. */
  isPushedHere: boolean;
  /** Whether a user with write access has approved running this head. */
  isHeadApproved: boolean;
  /** Whether a pull request of its submitter was merged here. */
  hasMerged: boolean;
  /** Whether it changes workflows, which define the checks. */
  changesWorkflows: boolean;
}

/**
 * `trusted` code runs with the permissions of a push: secrets, and those that the workflow requests. `restricted` code
 * gets no secrets and read access; `waits` becomes the same after an approval.
 */
export type CodeTrust = 'trusted' | 'restricted' | 'waits';

/** The policy of workflows for the code of a pull request. @param submitter the user who pushed the last round */
export function trustInCode(
  submitter: Viewer,
  repository: IssueRepositoryFacts,
  approval: CiApproval,
  { isPushedHere, isHeadApproved, hasMerged, changesWorkflows }: CodeFacts,
): CodeTrust {
  if (isTrustedWithCi(submitter, repository)) return isPushedHere ? 'trusted' : 'restricted';
  if (isHeadApproved) return 'restricted';
  return approval === 'first_time' && hasMerged && !changesWorkflows ? 'restricted' : 'waits';
}
