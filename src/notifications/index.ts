export { createNotifications } from './notifications.ts';
export type { NotificationOptions, Notifications } from './notifications.ts';
export { notificationEntities } from './notification-entities.ts';
export { limits as notificationLimits } from './limits.ts';
export {
  compareNotificationCounts,
  compareWatchCounts,
  recountNotifications,
  recountWatchers,
} from './recount-notifications.ts';
export { reasons } from './schema/notification-schema.ts';
export { changes as notificationChanges } from './inbox/change-notifications.ts';
export type { Change, UndoableChange } from './inbox/change-notifications.ts';
export type { Notification } from './inbox/describe-notifications.ts';
export type { AccessNews } from './inbox/access-news.ts';
export type { InboxState, InboxView } from './inbox/list-notifications.ts';
export { channels as notificationChannels, digests } from './schema/channel-schema.ts';
export type { Channel, Digest } from './schema/channel-schema.ts';
export type { Reason } from './schema/notification-schema.ts';
export { watchLevels } from './schema/watch-schema.ts';
export type { WatchLevel } from './schema/watch-schema.ts';
export type { Watching } from './watching/watches.ts';
