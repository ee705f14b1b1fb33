import { personViewer } from '../../access/index.ts';
import type { Viewer } from '../../access/index.ts';
import { hashSecret, looksLikeSecret, newSecret } from '../../accounts/index.ts';
import { notFound, nullIfNotFound } from '../../kernel/index.ts';
import type { NotificationDeps } from '../deps.ts';
import { writerOf } from '../inbox/change-notifications.ts';
import type { Notification } from '../inbox/describe-notifications.ts';
import { listNotifications } from '../inbox/list-notifications.ts';
import { limits } from '../limits.ts';
import { feedSchema } from '../schema/channel-schema.ts';

/**
 * Creates a new secret for the URL of the viewer's feed, which invalidates the previous one.
 * @returns the secret, which is shown once. Throws `sign_in_required`, `insufficient_scope`.
 */
export async function makeFeed({ db, random, logger }: NotificationDeps, viewer: Viewer): Promise<string> {
  const userId = writerOf(viewer);
  const secret = newSecret(random);
  await db.write(({ manager, now }) =>
    manager.upsert(feedSchema, { userId, tokenHash: hashSecret(secret), createdAt: now }, ['userId']),
  );
  logger.info('notifications.feed_made', { personId: userId });
  return secret;
}

/** Disables the viewer's feed URL, if there is one. */
export async function removeFeed({ db, logger }: NotificationDeps, viewer: Viewer): Promise<void> {
  const userId = writerOf(viewer);
  await db.write(({ manager }) => manager.delete(feedSchema, { userId }));
  logger.info('notifications.feed_removed', { personId: userId });
}

interface Feed {
  username: string;
  notifications: Notification[];
}

/**
 * The feed with this secret: events that its owner can currently read. Throws `feed_not_found`, also once the account
 * is disabled.
 */
export async function readFeed(deps: NotificationDeps, secret: string): Promise<Feed> {
  const row = looksLikeSecret(secret)
    ? await deps.db.read.findOneBy(feedSchema, { tokenHash: hashSecret(secret) })
    : null;
  const person = row === null ? null : await deps.accounts.personById(row.userId).catch(nullIfNotFound);
  if (person === null || person.disabledAt !== null || person.username === null)
    throw notFound('feed_not_found', 'There is no such feed.');
  const { rows } = await listNotifications(
    deps,
    personViewer(person.id, 'admin'),
    { view: 'feed' },
    { limit: limits.feedEntries },
  );
  return { username: person.username, notifications: rows };
}
