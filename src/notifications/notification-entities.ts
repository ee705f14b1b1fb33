import { feedSchema, mailPartSchema, ruleSchema, settingsSchema } from './schema/channel-schema.ts';
import { accessNewsSchema } from './schema/access-news-schema.ts';
import { batchSchema, notificationCountsSchema, notificationSchema } from './schema/notification-schema.ts';
import { watchCountSchema, watchSchema } from './schema/watch-schema.ts';

/** All mapped tables of this module. */
export const notificationEntities = [
  watchSchema,
  watchCountSchema,
  notificationSchema,
  notificationCountsSchema,
  batchSchema,
  ruleSchema,
  settingsSchema,
  feedSchema,
  mailPartSchema,
  accessNewsSchema,
];
