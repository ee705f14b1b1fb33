import { EntitySchema } from 'typeorm';

/** PENDING until a handler has succeeded (DELIVERED) or no retry is scheduled (FAILED). */
export type MessageState = 'PENDING' | 'DELIVERED' | 'FAILED';

/** A row of `outbox`: something that is to be sent or done. Times are milliseconds since the epoch. */
export interface MessageRow {
  id: number;
  /** Which handler it is for. */
  kind: string;
  /**
   * Messages of one key are handled one after the other, those of different keys side by side: an address, a person.
   */
  key: string;
  /** In the handler's own form; null when the handler finds it elsewhere by the id. */
  payload: string | null;
  state: MessageState;
  /** Attempts whose result is known. */
  attempts: number;
  nextAt: number;
  /** Until then it belongs to the drain that claimed it. */
  leaseUntil: number;
  createdAt: number;
  /** In words; null after a success. */
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
