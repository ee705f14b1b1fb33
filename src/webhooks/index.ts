import { webhookDeliverySchema, webhookMessageSchema, webhookSchema } from './webhook-schema.ts';

export { createWebhooks } from './webhooks.ts';
export type { Webhooks } from './webhooks.ts';
export { plainHttpRisk as plainHttpWebhookRisk } from './send-delivery.ts';
export type { WebhookDelivery } from './deliveries.ts';
export type { Webhook, WebhookInput } from './manage-webhooks.ts';
export type { WebhookScope } from './scope.ts';
export { webhookContentTypes, webhookEvents, webhookKinds } from './webhook-schema.ts';
export type { WebhookEvent } from './webhook-schema.ts';

export const webhookEntities = [webhookSchema, webhookMessageSchema, webhookDeliverySchema];
