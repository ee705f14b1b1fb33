import type { Tx } from '../db/index.ts';
import type { WebhookDeps } from './deps.ts';
import { webhookMessageSchema } from './webhook-schema.ts';
import type { WebhookDeliveryRow } from './webhook-schema.ts';

/** Kind of the outbox messages of webhooks; their key is the id of the webhook. */
export const webhookKind = 'webhook';

/** Enqueues a delivery inside the write that causes the event. Returns its number. */
export async function enqueueDelivery(
  { random, outbox }: Pick<WebhookDeps, 'random' | 'outbox'>,
  tx: Tx,
  {
    webhookId,
    event,
    about = null,
    payload = null,
    redeliveryOf = null,
  }: Pick<WebhookDeliveryRow, 'webhookId' | 'event'> &
    Partial<Pick<WebhookDeliveryRow, 'about' | 'payload' | 'redeliveryOf'>>,
): Promise<number> {
  const id = await outbox.enqueue(tx, { kind: webhookKind, key: webhookId, payload });
  await tx.manager.insert(webhookMessageSchema, {
    id,
    uuid: random.uuid(),
    webhookId,
    event,
    about,
    triedAt: null,
    tookMs: null,
    status: null,
    response: null,
    redeliveryOf,
  });
  return id;
}
