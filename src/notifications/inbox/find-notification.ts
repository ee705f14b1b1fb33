import { personIdOf } from '../../access/index.ts';
import type { Viewer } from '../../access/index.ts';
import { notFound } from '../../kernel/index.ts';
import type { NotificationDeps } from '../deps.ts';
import { notificationSchema } from '../schema/notification-schema.ts';
import type { Subject } from '../schema/notification-schema.ts';
import { describeNotifications } from './describe-notifications.ts';
import type { Notification } from './describe-notifications.ts';
import { queryVisibleNotifications } from './visible-notifications.ts';

/** One notification of the viewer. Throws `notification_not_found`, also for other users' notifications. */
export async function findNotification(deps: NotificationDeps, viewer: Viewer, id: number): Promise<Notification> {
  const personId = personIdOf(viewer);
  const row =
    personId === null || !Number.isSafeInteger(id)
      ? null
      : await queryVisibleNotifications(deps, viewer, personId).andWhere('n.id = :id', { id }).getOne();
  const [found] = row === null ? [] : await describeNotifications(deps, [row]);
  if (found === undefined) throw notFound('notification_not_found', 'There is no such notification.');
  return found;
}

/**
 * Marks the parts of a subject shown on a page as read: all, or up to a position, where the next reading begins. Writes
 * nothing if nothing is unread, which the row cache shows.
 */
export async function markSeen(
  { db }: Pick<NotificationDeps, 'db'>,
  viewer: Viewer,
  { subject, upTo }: { subject: Subject; upTo: number },
): Promise<void> {
  const userId = personIdOf(viewer);
  if (userId === null) return;
  const [row] = await db.lookup(notificationSchema, { userId, subject });
  if (row === undefined || row.readAt !== null || row.listedAt === null || row.firstPosition > upTo) return;
  await db.write(
    async ({ manager, now }) => {
      const present = await manager.findOneBy(notificationSchema, { userId, subject });
      if (present === null || present.readAt !== null || present.firstPosition > upTo) return;
      const change = present.lastPosition <= upTo ? { readAt: now } : { firstPosition: upTo + 1 };
      await manager.update(notificationSchema, { id: present.id }, change);
    },
    { durable: 'with-the-next' },
  );
}
