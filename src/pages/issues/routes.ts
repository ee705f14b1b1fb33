import type { Page, RepositoryContext, RepositoryPersonContext } from '../app/request-context.ts';
import type { Route } from '../route.ts';
import { attachmentRoutes } from './attachment-routes.ts';
import type { IssuesDeps } from './deps.ts';
import { postComment } from './issue-comment.page.ts';
import {
  decideAboutHeld,
  deleteEntry,
  editEntry,
  editTitle,
  hideEntry,
  purgeIssue,
  reactToEntry,
  restoreIssue,
  tickTask,
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
import { showIssue } from './issue.page.ts';
import { issueListRoutes } from './list-routes.ts';
import { openIssue, showNewIssue } from './new-issue.page.ts';

const list = '/repos/:owner/:name/issues';
const one = `${list}/:number`;

/** 64 KiB of text, each byte of it percent-encoded, and the other fields. */
const maxFormBytes = 256 * 1024;

/** A form for those who may read: who may send it is asked by the use-case, and a signed-out client signs in first. */
const forReaders = (name: string, page: Page<RepositoryContext, IssuesDeps>): Route => ({
  method: 'POST',
  path: `${one}/${name}`,
  access: 'repository:read',
  cost: 'rows',
  page,
});

/** The same for a form with a text, which may bring files. */
const withText = (name: string, page: Page<RepositoryContext, IssuesDeps>): Route => ({
  method: 'POST',
  path: `${one}/${name}`,
  access: 'repository:read',
  cost: 'rows',
  maxFormBytes,
  takesFiles: true,
  page,
});

const forMembers = (
  access: 'repository:write' | 'repository:admin',
  name: string,
  page: Page<RepositoryPersonContext, IssuesDeps>,
): Route => ({ method: 'POST', path: `${one}/${name}`, access, cost: 'rows', page });

/** The page of an issue, and of a new one. */
const issueRoutes: readonly Route[] = [
  { method: 'GET', path: `${list}/new`, access: 'repository:read', cost: 'objects', page: showNewIssue },
  {
    method: 'POST',
    path: `${list}/new`,
    access: 'repository:read',
    cost: 'objects',
    maxFormBytes,
    takesFiles: true,
    page: openIssue,
  },
  { method: 'GET', path: one, access: 'repository:read', cost: 'rows', page: showIssue },
  { method: 'GET', path: `${one}/history/:position`, access: 'repository:read', cost: 'rows', page: showHistory },
  withText('comments', postComment),
  withText('edit', editEntry),
  forReaders('tasks', tickTask),
  forReaders('title', editTitle),
  forReaders('react', reactToEntry),
  forReaders('subscribe', subscribeToIssue),
  forReaders('delete', deleteEntry),
  forMembers('repository:write', 'labels', changeLabels),
  forMembers('repository:write', 'assignees', changeAssignees),
  forMembers('repository:write', 'milestone', changeMilestone),
  forMembers('repository:write', 'links', changeLinks),
  forMembers('repository:write', 'lock', lockIssue),
  forMembers('repository:write', 'pin', pinIssue),
  forMembers('repository:write', 'hide', hideEntry),
  forMembers('repository:write', 'held', decideAboutHeld),
  forMembers('repository:admin', 'move', moveIssue),
  forMembers('repository:admin', 'restore', restoreIssue),
  forMembers('repository:admin', 'purge', purgeIssue),
];

/** Everything about issues. Fixed segments come first: `:number` would match them, too. */
export const issuesRoutes: readonly Route[] = [...attachmentRoutes, ...issueListRoutes, ...issueRoutes];
