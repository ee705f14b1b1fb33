import { rows } from '../db/index.ts';
import type { NotificationDeps } from './deps.ts';
import { limits } from './limits.ts';

/** Rows removed per transaction, and users checked per run. */
const atOnce = 500;

/**
 * For the scheduled task: removes old done rows, the oldest rows of users with too many, the content of old mails, and
 * permanently failed batches. Keeps saved rows.
 * @returns the number of removed notifications
 */
export async function pruneNotifications({ db, clock, settings }: NotificationDeps): Promise<number> {
  const now = clock.now();
  let removed = await inParts(db, 'done_at < ? AND done_at IS NOT NULL AND saved_at IS NULL', [
    now - settings.keepDoneMs,
  ]);
  const full: { user_id: string; stored: number }[] = await db.read.query(
    'SELECT user_id, stored FROM notification_counts WHERE stored > ? ORDER BY stored LIMIT ?',
    [limits.storedPerPerson, atOnce],
  );
  for (const { user_id, stored } of full) removed += await removeOldest(db, user_id, Number(stored));
  await db.write(async ({ manager }) => {
    await manager.query('DELETE FROM notification_mails WHERE due_at < ?', [now - limits.mailPartsMs]);
    await manager.query('DELETE FROM notification_batches WHERE next_at = ? AND created_at < ?', [
      Number.MAX_SAFE_INTEGER,
      now - limits.failedBatchMs,
    ]);
  });
  return removed;
}

async function inParts(db: NotificationDeps['db'], condition: string, values: readonly unknown[]): Promise<number> {
  let removed = 0;
  for (;;) {
    const found = await db.write(({ manager }) =>
      rows(
        manager,
        `DELETE FROM notifications WHERE id IN (SELECT n.id FROM notifications n WHERE ${condition} LIMIT ?) RETURNING id`,
        [...values, atOnce],
      ),
    );
    removed += found.length;
    if (found.length < atOnce) return removed;
  }
}

/** Done rows first, then the oldest of the inbox. */
async function removeOldest(db: NotificationDeps['db'], userId: string, stored: number): Promise<number> {
  const excess = stored - limits.storedPerPerson;
  const remove = (condition: string, order: string, count: number): Promise<object[]> =>
    count <= 0
      ? Promise.resolve([])
      : db.write(({ manager }) =>
          rows(
            manager,
            `DELETE FROM notifications WHERE id IN (SELECT n.id FROM notifications n
               WHERE n.user_id = ? AND ${condition} AND n.saved_at IS NULL ORDER BY n.${order}, n.id LIMIT ?) RETURNING id`,
            [userId, Math.min(count, atOnce)],
          ),
        );
  const done = (await remove('n.done_at IS NOT NULL', 'done_at', excess)).length;
  const old = await remove('n.listed_at IS NOT NULL AND n.done_at IS NULL', 'listed_at', excess - done);
  return done + old.length;
}
