import type { Tx } from '../../db/index.ts';

/**
 * Cancels pending deliveries: FAILED, with the reason, and marked as cancelled, which does not count as an error.
 * Deliveries in flight are not interrupted.
 * @param outboxId of one activity; all if omitted
 */
export async function cancelWaitingDeliveries({ manager, now }: Tx, reason: string, outboxId?: string): Promise<void> {
  await manager.query(
    `UPDATE federation_delivery SET state = 'FAILED', last_error = ?, settled_at = ?, cancelled_at = ?, locked_until = 0
      WHERE state = 'PENDING' AND locked_until <= ? ${outboxId === undefined ? '' : 'AND outbox_id = ?'}`,
    [reason, now, now, now, ...(outboxId === undefined ? [] : [outboxId])],
  );
}
