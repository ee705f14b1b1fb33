import type { Tx } from '../../db/index.ts';
import type { Batch } from '../notified-event.ts';

/**
 * A later run of the same workflow on the same ref succeeded: nobody has to look at the failure any more. It stays in
 * the inbox, marked as resolved and read.
 */
export async function resolveRuns(
  { manager, now }: Tx,
  { subject, context, position }: Extract<Batch, { kind: 'run-succeeded' }>,
): Promise<void> {
  await manager.query(
    `UPDATE notifications SET resolved_at = ?, read_at = COALESCE(read_at, ?)
     WHERE subject = ? AND context = ? AND resolved_at IS NULL AND issue_id IS NULL AND last_position < ?`,
    [now, now, subject, context, position],
  );
}
