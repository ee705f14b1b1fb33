import type { Tx } from '../../db/index.ts';
import type { Batch } from '../notified-event.ts';

/**
 * A later run of the same workflow on the same ref succeeded, or a deployment no longer waits for a reviewer, so nobody
 * needs to act. The row stays in the inbox, marked as resolved and read.
 */
export async function resolveNotifications(
  { manager, now }: Tx,
  { subject, context, position }: Extract<Batch, { kind: 'run-succeeded' | 'deployment-settled' }>,
): Promise<void> {
  await manager.query(
    `UPDATE notifications SET resolved_at = ?, read_at = COALESCE(read_at, ?)
     WHERE subject = ? AND context = ? AND resolved_at IS NULL AND issue_id IS NULL AND last_position < ?`,
    [now, now, subject, context, position],
  );
}
