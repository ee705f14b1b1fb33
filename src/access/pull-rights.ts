import { allows } from './level.ts';
import { isTrustedContributor, memberLevel, refusalOnIssue } from './issue-rights.ts';
import type { IssueFacts, IssueRefusal, IssueRepositoryFacts } from './issue-rights.ts';
import type { Viewer } from './viewer.ts';

/** Facts about a pull request besides its issue: `issuesFrom` is the `pullsFrom` of its repository. */
export interface PullFacts extends IssueFacts {
  /** The submitter of the code; null once the account is deleted. */
  submitterId: string | null;
}

/**
 * `add_round` is to push to the pull request; `edit` its title, base branch, and whether it is a draft; `review` is to
 * comment on lines and to give a verdict; `request_review` to request reviews; `approve` whether an approval counts;
 * `merge` also depends on the branch rule; `dismiss` cancels another user's review; `run_ci` allows CI on the code of a
 * user without write access; `queue_first` puts one first in a merge queue.
 */
export type PullAct =
  | 'read'
  | 'add_round'
  | 'edit'
  | 'review'
  | 'request_review'
  | 'resolve'
  | 'approve'
  | 'merge'
  | 'dismiss'
  | 'run_ci'
  | 'queue_first';

/**
 * The policy of pull requests: what a viewer may do with one; null if allowed. Its text, labels and comments follow
 * `refusalOnIssue`.
 * @param isThreadAuthor for `resolve`: whether the viewer began the thread
 */
export function refusalOnPull(
  viewer: Viewer,
  repository: IssueRepositoryFacts,
  pull: PullFacts,
  act: PullAct,
  isThreadAuthor = false,
): IssueRefusal | null {
  if (act === 'read') return refusalOnIssue(viewer, repository, pull, 'read');
  const refused = refusalOnIssue(viewer, repository, pull, 'contribute');
  const member = memberLevel(viewer, repository);
  // If pull requests are disabled, members can still finish open ones.
  if (refused !== null && !(refused === 'issues_off' && allows(member, 'write'))) return refused;
  if (viewer.kind !== 'person') return 'level';
  const isSubmitter = viewer.id === pull.authorId || viewer.id === pull.submitterId;
  switch (act) {
    case 'add_round':
    case 'edit':
    case 'request_review':
      return isSubmitter || allows(member, 'write') ? null : 'level';
    case 'review':
      return null;
    case 'resolve':
      return isSubmitter || isThreadAuthor || allows(member, 'write') ? null : 'level';
    case 'approve':
    case 'merge':
    case 'run_ci':
      return allows(member, 'write') ? null : 'level';
    case 'dismiss':
    case 'queue_first':
      return allows(member, 'admin') ? null : 'level';
  }
}

/** Whether a user's code is as trusted as a push: that of users with write access; the credential's scope counts. */
export function isTrustedWithCi(viewer: Viewer, repository: IssueRepositoryFacts): boolean {
  return isTrustedContributor(viewer, repository) && allows(memberLevel(viewer, repository), 'write');
}
