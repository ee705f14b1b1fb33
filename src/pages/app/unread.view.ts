import { notificationLimits } from '../../notifications/index.ts';

/** The number of unread notifications, at most `99+`: higher numbers are not counted. */
export const viewUnread = (unread: number): string =>
  unread >= notificationLimits.counted ? `${notificationLimits.counted - 1}+` : String(unread);
