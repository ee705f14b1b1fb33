import type { IssueRefusal } from '../access/index.ts';
import { conflict, forbidden, notFound, unauthenticated } from '../kernel/index.ts';
import type { DomainError } from '../kernel/index.ts';
import type { IssueKind } from './schema/issue-schema.ts';

export const entryNotFound = () => notFound('entry_not_found', 'Comment not found');
export const issueNotFound = () => notFound('issue_not_found', 'Issue not found');

/** For a form with an outdated text. */
export const revisionConflict = () =>
  conflict(
    'text_changed_meanwhile',
    'Someone edited this text since you opened it. Review the current version, then save again.',
  );

/** Throws the error of a policy refusal; does nothing for null. */
export function refuse(refusal: IssueRefusal | null, kind: IssueKind = 'ISSUE'): void {
  if (refusal !== null) throw refusalError(refusal, kind);
}

export function refusalError(refusal: IssueRefusal, kind: IssueKind = 'ISSUE'): DomainError {
  switch (refusal) {
    case 'hidden':
      return issueNotFound();
    case 'sign_in':
      return unauthenticated('sign_in_required', 'Sign in to continue.');
    case 'scope':
      return forbidden('token_may_not_write', 'This token does not have write access here.');
    case 'archived':
      return forbidden('repository_archived', 'This repository is archived and read-only.');
    case 'locked':
      return forbidden(
        'issue_locked',
        `This ${kind === 'PULL' ? 'pull request' : 'issue'} is locked: only people with write access can add to it.`,
      );
    case 'issues_off':
      return kind === 'PULL'
        ? forbidden('pulls_off', 'Pull requests are disabled for this repository.')
        : forbidden('issues_off', 'Issues are disabled for this repository.');
    case 'blocked':
      return forbidden('blocked_by_owner', 'The owner of this repository has blocked you from contributing.');
    case 'members_only':
      return forbidden(
        'members_only',
        `Only members of this repository can open ${kind === 'PULL' ? 'pull requests' : 'issues'} and comment.`,
      );
    case 'level':
      return forbidden('not_allowed_on_issue', 'You do not have permission to do this here.');
  }
}
