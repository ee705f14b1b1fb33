import { page } from '../app/reply.ts';
import type { Page, RequestContext } from '../app/request-context.ts';
import type { NotificationsDeps } from './deps.ts';

/**
 * `/notifications/unsubscribe?token=`, the link of a mail: asks, because programs that look at mails follow links.
 * Works without a session: the token says who, and what the mail was about is not shown, because mails are forwarded.
 * Refuses `unsubscribe_link_invalid`.
 */
export const showUnsubscribe: Page<RequestContext, NotificationsDeps> = ({ query }, { notifications }) => {
  const token = query.get('token') ?? '';
  const topic = notifications.readUnsubscribeToken(token).topic.kind;
  return page('notifications/unsubscribe', { topic, token, isDone: false }, { showsSecret: true });
};

/** What the button sends, and mail programs by themselves (RFC 8058). The body of the request has no part in it. */
export const unsubscribe: Page<RequestContext, NotificationsDeps> = async ({ query }, { notifications }) => {
  const topic = (await notifications.unsubscribe(query.get('token') ?? '')).kind;
  return page('notifications/unsubscribe', { topic, token: '', isDone: true });
};
