import type { IssueKind } from '../../issues/index.ts';
import type { Page, RepositoryContext } from '../app/request-context.ts';
import type { Route } from '../app/route.ts';
import { attachmentRoutes } from './attachment-routes.ts';
import type { ShowConversation } from './conversation.reply.ts';
import type { IssuesDeps } from './deps.ts';
import { postComment } from './issue-comment.page.ts';
import {
  moderateHeldEntry,
  deleteEntry,
  editEntry,
  editTitle,
  hideEntry,
  purgeIssue,
  reactToEntry,
  restoreIssue,
  toggleTaskItem,
} from './issue-edit.page.ts';
import { showHistory } from './issue-history.page.ts';
import {
  changeAssignees,
  changeLabels,
  changeLinks,
  changeMilestone,
  lockIssue,
  moveIssue,
  pinIssue,
  subscribeToIssue,
} from './issue-triage.page.ts';
import { issuePage, showIssue } from './issue.page.ts';
import { issueListRoutes } from './issue-list-routes.ts';
import { openIssue, showNewIssue } from './new-issue.page.ts';

const list = '/repos/:owner/:name/issues';

/** 64 KiB of text, each byte percent-encoded, and the other fields. */
export const maxTextFormBytes = 256 * 1024;

/**
 * The forms of the page of an issue or pull request. Readers may send most of them: the use-case checks permissions,
 * and anonymous clients sign in first.
 * @param one the path of the page
 */
export function conversationRoutes<Deps extends IssuesDeps>(
  one: string,
  kind: IssueKind,
  show: ShowConversation<Deps>,
) {
  type Form = (show: ShowConversation<Deps>) => Page<RepositoryContext, Deps>;
  const post = { method: 'POST', access: 'repository:read', cost: 'rows' } as const;
  const forReaders = (name: string, form: Form) => ({ ...post, path: `${one}/${name}`, page: form(show) });
  /** A form with a text, which may contain files. */
  const withText = (name: string, form: Form) => ({
    ...forReaders(name, form),
    maxFormBytes: maxTextFormBytes,
    takesFiles: kind,
  });
  const forMembers = (
    access: 'repository:write' | 'repository:admin',
    name: string,
    page: Page<RepositoryContext, Deps>,
  ) => ({
    ...post,
    access,
    path: `${one}/${name}`,
    page,
  });
  return [
    { method: 'GET', path: `${one}/history/:position`, access: 'repository:read', cost: 'rows', page: showHistory },
    withText('comments', postComment),
    withText('edit', editEntry),
    forReaders('tasks', toggleTaskItem),
    forReaders('title', editTitle),
    forReaders('react', reactToEntry),
    forReaders('subscribe', subscribeToIssue),
    forReaders('delete', deleteEntry),
    forMembers('repository:write', 'labels', changeLabels(show)),
    forMembers('repository:write', 'assignees', changeAssignees(show)),
    forMembers('repository:write', 'milestone', changeMilestone(show)),
    forMembers('repository:write', 'links', changeLinks(show)),
    forMembers('repository:write', 'lock', lockIssue(show)),
    forMembers('repository:write', 'hide', hideEntry(show)),
    forMembers('repository:write', 'held', moderateHeldEntry(show)),
    forMembers('repository:admin', 'restore', restoreIssue),
    forMembers('repository:admin', 'purge', purgeIssue),
  ] as const;
}

const one = `${list}/:number`;

/** The page of an issue, and of a new one. */
const issueRoutes: readonly Route[] = [
  { method: 'GET', path: `${list}/new`, access: 'repository:read', cost: 'objects', page: showNewIssue },
  {
    method: 'POST',
    path: `${list}/new`,
    access: 'repository:read',
    cost: 'objects',
    maxFormBytes: maxTextFormBytes,
    takesFiles: 'ISSUE',
    page: openIssue,
  },
  { method: 'GET', path: one, access: 'repository:read', cost: 'rows', page: showIssue },
  ...conversationRoutes(one, 'ISSUE', issuePage),
  { method: 'POST', path: `${one}/pin`, access: 'repository:write', cost: 'rows', page: pinIssue(issuePage) },
  { method: 'POST', path: `${one}/move`, access: 'repository:admin', cost: 'rows', page: moveIssue(issuePage) },
];

/** All routes of issues. Fixed segments come first: `:number` would also match them. */
export const issuesRoutes: readonly Route[] = [...attachmentRoutes, ...issueListRoutes, ...issueRoutes];
