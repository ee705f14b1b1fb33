import type { Tx } from '../db/index.ts';

const unread = 'n.listed_at IS NOT NULL AND n.read_at IS NULL AND n.done_at IS NULL';

/** Rows `id` of users whose maintained counts differ from their notifications, for `hearth doctor`. */
export const compareNotificationCounts = `SELECT u.id AS id FROM users u
  LEFT JOIN notification_counts c ON c.user_id = u.id
  WHERE COALESCE(c.stored, 0) <> (SELECT count(*) FROM notifications n WHERE n.user_id = u.id)
    OR COALESCE(c.unread, 0) <> (SELECT count(*) FROM notifications n WHERE n.user_id = u.id AND ${unread})`;

/** Rows `id` of the repositories whose maintained number of watchers is wrong. */
export const compareWatchCounts = `SELECT r.id AS id FROM repositories r
  LEFT JOIN watch_counts c ON c.repository_id = r.id
  WHERE COALESCE(c.watching, 0) <>
    (SELECT count(*) FROM watches w WHERE w.repository_id = r.id AND w.level = 'everything')`;

/** Recomputes a user's notification counts. */
export async function recountNotifications({ manager }: Tx, userId: string): Promise<void> {
  await manager.query(
    `INSERT INTO notification_counts (user_id, unread, stored)
     SELECT u.id, (SELECT count(*) FROM notifications n WHERE n.user_id = u.id AND ${unread}),
       (SELECT count(*) FROM notifications n WHERE n.user_id = u.id)
     FROM users u WHERE u.id = ?
     ON CONFLICT (user_id) DO UPDATE SET unread = excluded.unread, stored = excluded.stored`,
    [userId],
  );
}

/** Recomputes a repository's number of watchers. */
export async function recountWatchers({ manager }: Tx, repositoryId: string): Promise<void> {
  await manager.query(
    `INSERT INTO watch_counts (repository_id, watching)
     SELECT r.id, (SELECT count(*) FROM watches w WHERE w.repository_id = r.id AND w.level = 'everything')
     FROM repositories r WHERE r.id = ?
     ON CONFLICT (repository_id) DO UPDATE SET watching = excluded.watching`,
    [repositoryId],
  );
}
