import { EntitySchema } from 'typeorm';

/** PENDING until a handler succeeds (DELIVERED) or no retry remains (FAILED). */
export type MessageState = 'PENDING' | 'DELIVERED' | 'FAILED';

/** A row of `outbox`: a message to be sent or handled. Times are milliseconds since the epoch. */
export interface MessageRow {
  id: number;
  /** Kind, which selects the handler. */
  kind: string;
  /**
   * For example an address or a user. Messages of one key are handled one after the other, those of different keys
   * concurrently.
   */
  key: string;
  /** In the format of the handler; null if the handler stores it elsewhere under the id. */
  payload: string | null;
  state: MessageState;
  /** Number of attempts with a known result. */
  attempts: number;
  nextAt: number;
  /** Until then it belongs to the drain that claimed it. */
  leaseUntil: number;
  createdAt: number;
  /** Error message; null after a success. */
  lastError: string | null;
}

export const outboxSchema = new EntitySchema<MessageRow>({
  name: 'outboxMessage',
  tableName: 'outbox',
  columns: {
    id: { type: 'integer', primary: true, generated: 'increment' },
    kind: { type: 'text' },
    key: { type: 'text' },
    payload: { type: 'text', nullable: true },
    state: { type: 'text' },
    attempts: { type: 'integer' },
    nextAt: { name: 'next_at', type: 'integer' },
    leaseUntil: { name: 'lease_until', type: 'integer' },
    createdAt: { name: 'created_at', type: 'integer' },
    lastError: { name: 'last_error', type: 'text', nullable: true },
  },
});
