import { t } from '../../translation/index.ts';
import { content } from '../app/reply.ts';
import type { Page, RequestContext } from '../app/request-context.ts';
import { writeFeed } from '../code/atom.ts';
import type { NotificationsDeps } from './deps.ts';
import { reasonWords, targetOf, titleOf } from './notification-row.view.ts';

/**
 * `/notifications/feed.atom?token=`: the private feed of a user, without a session. The secret is in the query, because
 * queries are never logged. The document contains its URL without the secret.
 */
export const showPrivateFeed: Page<RequestContext, NotificationsDeps> = async ({ query, origin }, deps) => {
  const { username, notifications } = await deps.notifications.readFeed(query.get('token') ?? '');
  const entries = notifications.map((notification) => {
    const { id, lastPosition, place, reason, fedAt } = notification;
    return {
      // Each event of a subject has its own entry id, so that feed readers show it as new.
      id: `${origin}/notifications#${id}.${lastPosition}`,
      url: `${origin}${targetOf(notification)}`,
      title: `${place.owner.handle}/${place.repository.name}: ${titleOf(notification)}`,
      author: { name: place.owner.handle, uri: null },
      at: fedAt ?? 0,
      text: reasonWords[reason],
    };
  });
  const feed = writeFeed({
    title: t('notifications.feed.notifications_of_username', { username }),
    self: `${origin}/notifications/feed.atom`,
    page: `${origin}/notifications`,
    updatedAt: Math.max(0, ...entries.map(({ at }) => at)),
    entries,
  });
  return content('application/atom+xml; charset=utf-8', feed, {
    headers: { 'Cache-Control': 'private, no-store', 'Referrer-Policy': 'no-referrer' },
  });
};
