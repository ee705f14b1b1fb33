import { EntitySchema } from 'typeorm';

export type DeliveryState = 'PENDING' | 'DELIVERED' | 'FAILED';

/** The delivery of one activity to one inbox (SPEC §2.5, §3). Times are milliseconds since the epoch. */
export interface DeliveryRow {
  id: number;
  outboxId: string;
  targetInbox: string;
  /** Host and non-default port of the inbox. */
  host: string;
  state: DeliveryState;
  /** Number of attempts with a known result. */
  attempts: number;
  /** The error message. */
  lastError: string | null;
  nextAttemptAt: number;
  /** End of the claim; afterwards the claiming process is considered dead. */
  lockedUntil: number;
  createdAt: number;
  /** Time when it became DELIVERED or FAILED. */
  settledAt: number | null;
  /** Set on a FAILED delivery that was cancelled, which is not an error. */
  cancelledAt: number | null;
}

export const deliverySchema = new EntitySchema<DeliveryRow>({
  name: 'federationDelivery',
  tableName: 'federation_delivery',
  columns: {
    id: { type: 'integer', primary: true, generated: 'increment' },
    outboxId: { name: 'outbox_id', type: 'text' },
    targetInbox: { name: 'target_inbox', type: 'text' },
    host: { type: 'text' },
    state: { type: 'text' },
    attempts: { type: 'integer' },
    lastError: { name: 'last_error', type: 'text', nullable: true },
    nextAttemptAt: { name: 'next_attempt_at', type: 'integer' },
    lockedUntil: { name: 'locked_until', type: 'integer' },
    createdAt: { name: 'created_at', type: 'integer' },
    settledAt: { name: 'settled_at', type: 'integer', nullable: true },
    cancelledAt: { name: 'cancelled_at', type: 'integer', nullable: true },
  },
});
