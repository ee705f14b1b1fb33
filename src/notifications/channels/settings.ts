import { personIdOf } from '../../access/index.ts';
import type { Viewer } from '../../access/index.ts';
import { invalid } from '../../kernel/index.ts';
import type { NotificationDeps } from '../deps.ts';
import { writerOf } from '../inbox/change-notifications.ts';
import { channels, digests, feedSchema, ruleSchema, settingsSchema } from '../schema/channel-schema.ts';
import type { Channel, Digest } from '../schema/channel-schema.ts';
import { reasons } from '../schema/notification-schema.ts';
import type { Reason } from '../schema/notification-schema.ts';
import { isOnByDefault } from './default-rules.ts';

type Rules = Record<Reason, Record<Channel, boolean>>;

interface ChannelSettings {
  rules: Rules;
  digest: Digest;
  /** Time when the feed URL was created; null without one. */
  feedSince: number | null;
}

/** A user's channels by reason; null for a viewer without an account. */
export async function channelSettings(
  { db }: Pick<NotificationDeps, 'db'>,
  viewer: Viewer,
): Promise<ChannelSettings | null> {
  const userId = personIdOf(viewer);
  if (userId === null) return null;
  const [given, settings, feed] = await Promise.all([
    db.read.findBy(ruleSchema, { userId }),
    db.read.findOneBy(settingsSchema, { userId }),
    db.read.findOneBy(feedSchema, { userId }),
  ]);
  const isOn = (reason: Reason, channel: Channel): boolean =>
    given.find((rule) => rule.reason === reason && rule.channel === channel)?.isOn ?? isOnByDefault(reason, channel);
  const rules = Object.fromEntries(
    reasons.map((reason) => [reason, Object.fromEntries(channels.map((channel) => [channel, isOn(reason, channel)]))]),
  ) as Rules;
  return { rules, digest: settings?.digest ?? 'immediately', feedSince: feed?.createdAt ?? null };
}

/**
 * Sets rules and the time of mails; omitted fields stay. Throws `sign_in_required`, `insufficient_scope`,
 * `invalid_digest`.
 */
export async function changeChannelSettings(
  { db }: Pick<NotificationDeps, 'db'>,
  viewer: Viewer,
  { rules = [], digest }: { rules?: readonly { reason: Reason; channel: Channel; isOn: boolean }[]; digest?: Digest },
): Promise<void> {
  const userId = writerOf(viewer);
  if (digest !== undefined && !digests.includes(digest))
    throw invalid('invalid_digest', 'Choose one of the listed email options.', { field: 'digest' });
  await db.write(async ({ manager }) => {
    for (const { reason, channel, isOn } of rules) {
      if (isOn === isOnByDefault(reason, channel)) await manager.delete(ruleSchema, { userId, reason, channel });
      else await manager.upsert(ruleSchema, { userId, reason, channel, isOn }, ['userId', 'reason', 'channel']);
    }
    if (digest !== undefined) await manager.upsert(settingsSchema, { userId, digest }, ['userId']);
  });
}
