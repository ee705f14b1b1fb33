import type { Tx } from '../../db/index.ts';

/**
 * What waits is not sent any more, which is no fault: FAILED, with the reason, and marked as cancelled.
 * A delivery in flight is not interrupted.
 * @param outboxId of one activity; all when left out
 */
export async function cancelWaitingDeliveries({ manager, now }: Tx, reason: string, outboxId?: string): Promise<void> {
  await manager.query(
    `UPDATE federation_delivery SET state = 'FAILED', last_error = ?, settled_at = ?, cancelled_at = ?, locked_until = 0
      WHERE state = 'PENDING' AND locked_until <= ? ${outboxId === undefined ? '' : 'AND outbox_id = ?'}`,
    [reason, now, now, now, ...(outboxId === undefined ? [] : [outboxId])],
  );
}
