import { notificationChanges } from '../../notifications/index.ts';
import { inPersonSettings } from '../app/route.ts';
import type { Route } from '../app/route.ts';
import { showPrivateFeed } from './feed.page.ts';
import { changeNotifications, readAccessNews, showInbox, undoChange } from './inbox.page.ts';
import {
  makeFeed,
  removeFeed,
  saveNotificationSettings,
  showNewFeed,
  showNotificationSettings,
} from './settings.page.ts';
import { showUnsubscribe, unsubscribe } from './unsubscribe.page.ts';
import { watchRepository } from './watch.page.ts';

/** The inbox, its settings, the private feed, and watching. */
export const notificationsRoutes: readonly Route[] = [
  { method: 'GET', path: '/notifications', access: 'signed-in', cost: 'rows', page: showInbox },
  ...notificationChanges.map(
    (change): Route => ({
      method: 'POST',
      path: `/notifications/${change}`,
      access: 'signed-in',
      cost: 'rows',
      page: changeNotifications(change),
    }),
  ),
  { method: 'POST', path: '/notifications/access', access: 'signed-in', cost: 'rows', page: readAccessNews },
  { method: 'POST', path: '/notifications/undo', access: 'signed-in', cost: 'rows', page: undoChange },
  { method: 'GET', path: '/notifications/feed.atom', access: 'open', cost: 'rows', page: showPrivateFeed },
  { method: 'GET', path: '/notifications/unsubscribe', access: 'public', cost: 'rows', page: showUnsubscribe },
  {
    method: 'POST',
    path: '/notifications/unsubscribe',
    access: 'public',
    cost: 'rows',
    ignoresBody: true,
    page: unsubscribe,
  },
  inPersonSettings('GET', '/notifications', showNotificationSettings),
  inPersonSettings('POST', '/notifications', saveNotificationSettings),
  inPersonSettings('POST', '/notifications/feed', makeFeed),
  inPersonSettings('POST', '/notifications/feed/remove', removeFeed),
  inPersonSettings('GET', '/notifications/feed/:oneTimeToken', showNewFeed),
  { method: 'POST', path: '/repos/:owner/:name/watch', access: 'repository:read', cost: 'rows', page: watchRepository },
];
