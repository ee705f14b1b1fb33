import type { IssueRefusal } from '../access/index.ts';
import { conflict, forbidden, notFound, unauthenticated } from '../kernel/index.ts';
import type { DomainError } from '../kernel/index.ts';
import type { IssueKind } from './schema/issue-schema.ts';

export const entryNotFound = () => notFound('entry_not_found', 'Comment not found');
export const issueNotFound = () => notFound('issue_not_found', 'Issue not found');

/** For a form that was made from an older text. */
export const revisionConflict = () =>
  conflict('text_changed_meanwhile', 'This text was changed meanwhile. Please look at it as it is now.');

/** Throws the error of a refusal by the policy; null passes. */
export function refuse(refusal: IssueRefusal | null, kind: IssueKind = 'ISSUE'): void {
  if (refusal !== null) throw refusalError(refusal, kind);
}

export function refusalError(refusal: IssueRefusal, kind: IssueKind = 'ISSUE'): DomainError {
  switch (refusal) {
    case 'hidden':
      return issueNotFound();
    case 'sign_in':
      return unauthenticated('sign_in_required', 'Please sign in.');
    case 'scope':
      return forbidden('token_may_not_write', 'This token may not write here.');
    case 'archived':
      return forbidden('repository_archived', 'This repository is archived and read-only.');
    case 'locked':
      return forbidden(
        'issue_locked',
        `This ${kind === 'PULL' ? 'pull request' : 'issue'} is locked: only those who may write here can add to it.`,
      );
    case 'issues_off':
      return kind === 'PULL'
        ? forbidden('pulls_off', 'This repository takes no pull requests.')
        : forbidden('issues_off', 'This repository takes no issues.');
    case 'blocked':
      return forbidden('blocked_by_owner', 'The owner of this repository does not let you contribute.');
    case 'members_only':
      return forbidden(
        'members_only',
        `Only members of this repository may open ${kind === 'PULL' ? 'pull requests' : 'issues'} and comment.`,
      );
    case 'level':
      return forbidden('not_allowed_on_issue', 'You may not do this here.');
  }
}
