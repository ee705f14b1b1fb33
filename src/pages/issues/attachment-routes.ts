import type { Route } from '../route.ts';
import { showAttachment, uploadAttachments } from './attachments.page.ts';

/** Files of issues. */
export const attachmentRoutes: readonly Route[] = [
  { method: 'GET', path: '/repos/:owner/:name/attachments/:id', access: 'public', cost: 'rows', page: showAttachment },
  {
    method: 'POST',
    path: '/repos/:owner/:name/issues/attachments',
    // Who may contribute here, the policy of issues says.
    access: 'repository:read',
    cost: 'rows',
    page: uploadAttachments,
    takesFiles: true,
  },
];
