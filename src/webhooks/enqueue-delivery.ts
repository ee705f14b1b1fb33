import type { Tx } from '../db/index.ts';
import type { WebhookDeps } from './deps.ts';
import { webhookDeliverySchema } from './webhook-schema.ts';
import type { WebhookDeliveryRow } from './webhook-schema.ts';

/** Enqueues an event; it is sent with the next run of the queue. Returns the number of the delivery. */
export async function enqueueDelivery(
  { random }: Pick<WebhookDeps, 'random'>,
  { manager, now }: Tx,
  said: Pick<WebhookDeliveryRow, 'webhookId' | 'event'> &
    Partial<Pick<WebhookDeliveryRow, 'about' | 'payload' | 'redeliveryOf'>>,
): Promise<number> {
  const { identifiers } = await manager.insert(webhookDeliverySchema, {
    about: null,
    payload: null,
    redeliveryOf: null,
    ...said,
    uuid: random.uuid(),
    state: 'PENDING',
    attempts: 0,
    nextAttemptAt: now,
    lockedUntil: 0,
    createdAt: now,
    triedAt: null,
    tookMs: null,
    status: null,
    response: null,
    error: null,
  });
  return identifiers[0]!.id as number;
}
