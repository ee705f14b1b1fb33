// insertDelivery(tx, row) → a delivery as the program would have left it, by the column names of webhook_deliveries.
import type { Tx } from '../../src/db/index.ts';
import { insertRow } from '../fixtures/test-database.ts';

interface InsertedDelivery {
  id?: number;
  uuid: string;
  webhook_id: string;
  event: string;
  payload: string;
  state: string;
  attempts?: number;
  next_attempt_at: number;
  locked_until: number;
  created_at: number;
  error?: string;
}

export async function insertDelivery(
  tx: Tx,
  { uuid, webhook_id, event, next_attempt_at, locked_until, error, id: given, ...row }: InsertedDelivery,
): Promise<void> {
  const [{ last }]: [{ last: number }] = await tx.manager.query('SELECT coalesce(max(id), 0) AS last FROM outbox');
  const id = given ?? last + 1;
  await insertRow(tx, 'outbox', {
    id,
    kind: 'webhook',
    key: webhook_id,
    next_at: next_attempt_at,
    lease_until: locked_until,
    last_error: error ?? null,
    ...row,
  });
  await insertRow(tx, 'webhook_messages', { id, uuid, webhook_id, event });
}
