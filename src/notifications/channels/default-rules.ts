import type { Channel } from '../schema/channel-schema.ts';
import type { Reason } from '../schema/notification-schema.ts';

/**
 * Default of a channel for a reason: the inbox and the feed get everything, mails only what concerns the user, not what
 * they merely watch.
 */
export const isOnByDefault = (reason: Reason, channel: Channel): boolean =>
  channel !== 'mail' || (reason !== 'watching' && reason !== 'release');
