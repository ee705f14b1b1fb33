import { page } from '../app/reply.ts';
import type { Page, RequestContext } from '../app/request-context.ts';
import type { NotificationsDeps } from './deps.ts';

/**
 * `/notifications/unsubscribe?token=`, the link in a mail: requires a click, because mail scanners follow links. Works
 * without a session: the token identifies the user, and the page hides the subject of the mail, because mails are
 * forwarded. Throws `unsubscribe_link_invalid`.
 */
export const showUnsubscribe: Page<RequestContext, NotificationsDeps> = ({ query }, { notifications }) => {
  const token = query.get('token') ?? '';
  const topic = notifications.readUnsubscribeToken(token).topic.kind;
  return page('notifications/unsubscribe', { topic, token, isDone: false }, { showsSecret: true });
};

/** Target of the button, and of one-click requests by mail programs (RFC 8058). The request body is ignored. */
export const unsubscribe: Page<RequestContext, NotificationsDeps> = async ({ query }, { notifications }) => {
  const topic = (await notifications.unsubscribe(query.get('token') ?? '')).kind;
  return page('notifications/unsubscribe', { topic, token: '', isDone: true });
};
