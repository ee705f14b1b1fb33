import type { IssueKind } from '../../issues/index.ts';
import type { Route } from '../app/route.ts';
import { showIssueAsJson, showIssueAsMarkdown } from './export-issue.page.ts';
import { showAttachment, uploadAttachments } from './attachments.page.ts';

/** The policies of issues and of pull requests decide who may contribute to each. */
const uploads = (list: string, kind: IssueKind): Route => ({
  method: 'POST',
  path: `/repos/:owner/:name/${list}/attachments`,
  access: 'repository:read',
  cost: 'rows',
  page: uploadAttachments,
  takesFiles: kind,
});

/** Files of issues, and exports of issues: before the page of an issue, whose number would match their names. */
export const attachmentRoutes: readonly Route[] = [
  {
    method: 'GET',
    path: '/repos/:owner/:name/attachments/:id',
    access: 'repository:read',
    cost: 'rows',
    page: showAttachment,
    takesTokens: true,
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
