import type { Tx } from '../db/index.ts';
import type { WebhookDeps } from './deps.ts';
import { webhookMessageSchema } from './webhook-schema.ts';
import type { WebhookDeliveryRow } from './webhook-schema.ts';

/** Which messages of the outbox are deliveries to webhooks; their key is the webhook. */
export const webhookKind = 'webhook';

/** Puts an event on its way, in the write of what it tells of. Answers the number of the delivery. */
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
