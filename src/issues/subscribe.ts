import type { Tx } from '../db/index.ts';
import type { SubscriptionReason } from './schema/participation-schema.ts';

/**
 * Subscribes a participant, unless they unsubscribed before, to entries from now on: an entry announced late is not
 * sent to users who subscribed after it was written.
 */
export async function subscribeOnce(
  { manager }: Tx,
  issueId: string,
  userId: string | null,
  reason: SubscriptionReason,
): Promise<void> {
  if (userId === null) return;
  await manager.query(
    `INSERT INTO subscriptions (issue_id, user_id, is_on, reason, from_position)
     SELECT i.id, CAST(? AS TEXT), 1, CAST(? AS TEXT), i.last_position + 1 FROM issues i WHERE i.id = ?
     ON CONFLICT (issue_id, user_id) DO NOTHING`,
    [userId, reason, issueId],
  );
}

/** A held entry is shown only now: users who subscribed in the meantime have not seen it. */
export async function tellSubscribersFrom({ manager }: Tx, issueId: string, position: number): Promise<void> {
  await manager.query('UPDATE subscriptions SET from_position = ? WHERE issue_id = ? AND from_position > ?', [
    position,
    issueId,
    position,
  ]);
}
