import type { IssueKind } from '../../issues/index.ts';
import type { Route } from '../route.ts';
import { showIssueAsJson, showIssueAsMarkdown } from './export-issue.page.ts';
import { showAttachment, uploadAttachments } from './attachments.page.ts';

/** Who may contribute to issues, and who to pull requests, the policy of each says. */
const uploads = (list: string, kind: IssueKind): Route => ({
  method: 'POST',
  path: `/repos/:owner/:name/${list}/attachments`,
  access: 'repository:read',
  cost: 'rows',
  page: uploadAttachments,
  takesFiles: kind,
});

/** Files of issues, and issues as files: before the page of an issue, whose number would match their names. */
export const attachmentRoutes: readonly Route[] = [
  {
    method: 'GET',
    path: '/repos/:owner/:name/attachments/:id',
    access: 'repository:read',
    cost: 'rows',
    page: showAttachment,
  },
  uploads('issues', 'ISSUE'),
  uploads('pulls', 'PULL'),
  {
    method: 'GET',
    path: '/repos/:owner/:name/issues/:number.json',
    access: 'repository:read',
    cost: 'rows',
    page: showIssueAsJson,
  },
  {
    method: 'GET',
    path: '/repos/:owner/:name/issues/:number.md',
    access: 'repository:read',
    cost: 'rows',
    page: showIssueAsMarkdown,
  },
];
