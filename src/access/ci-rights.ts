import type { IssueRepositoryFacts } from './issue-rights.ts';
import { isTrustedWithCi } from './pull-rights.ts';
import type { Viewer } from './viewer.ts';

/**
 * Whose pull requests wait for approval before their workflows run: of everyone who may not write, or of those of whom
 * no pull request was merged yet.
 */
export type CiApproval = 'everyone' | 'first_time';

/** What is known of the code of a pull request. */
export interface CodeFacts {
  /** Whether it was pushed to this repository, as a branch or to `refs/for`; that of a fork was not. */
  isPushedHere: boolean;
  /** Whether a person with write access has let this head run. */
  isHeadApproved: boolean;
  /** Whether a pull request of who submitted it was merged here. */
  hasMerged: boolean;
  /** Whether it changes workflows, which decide what the checks are. */
  changesWorkflows: boolean;
}

/**
 * `trusted` code runs with the rights of a push: secrets, and the permissions that the workflow asks for. `restricted`
 * code gets no secrets and only reads; `waits` is the same after an approval.
 */
export type CodeTrust = 'trusted' | 'restricted' | 'waits';

/** The policy of workflows for the code of a pull request. @param submitter who pushed the last round */
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
