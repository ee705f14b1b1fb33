import type { Route } from '../route.ts';
import { showIssueAsJson, showIssueAsMarkdown } from './export-issue.page.ts';
import { showAttachment, uploadAttachments } from './attachments.page.ts';

/** Files of issues, and issues as files: before the page of an issue, whose number would match their names. */
export const attachmentRoutes: readonly Route[] = [
  {
    method: 'GET',
    path: '/repos/:owner/:name/attachments/:id',
    access: 'repository:read',
    cost: 'rows',
    page: showAttachment,
  },
  {
    method: 'POST',
    path: '/repos/:owner/:name/issues/attachments',
    // Who may contribute here, the policy of issues says.
    access: 'repository:read',
    cost: 'rows',
    page: uploadAttachments,
    takesFiles: true,
  },
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
