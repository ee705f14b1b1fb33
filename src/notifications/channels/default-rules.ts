import type { Channel } from '../schema/channel-schema.ts';
import type { Reason } from '../schema/notification-schema.ts';

/**
 * Whether a channel notifies of a reason by default: the inbox and the feed of everything,
 * mails of what concerns the person, and not of what they merely watch.
 */
export const isOnByDefault = (reason: Reason, channel: Channel): boolean =>
  channel !== 'mail' || (reason !== 'watching' && reason !== 'release');
