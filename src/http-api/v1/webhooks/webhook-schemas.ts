import { z } from 'zod';
import { plainHttpWebhookRisk, webhookEvents } from '../../../webhooks/index.ts';
import { time } from '../shapes/schemas.ts';

const webhookEvent = z.enum(webhookEvents);
export const webhook = z
  .strictObject({
    id: z.string(),
    url: z.string(),
    hasSecret: z.boolean().describe('Whether messages are signed; the secret itself is never returned'),
    events: z.array(webhookEvent),
    active: z.boolean(),
    createdAt: time,
    updatedAt: time,
  })
  .meta({ id: 'Webhook' });
export const webhookInput = z
  .strictObject({
    url: z.string().describe(`HTTPS URL, or HTTP for hosts in webhooks.allowed_hosts. ${plainHttpWebhookRisk}`),
    events: z.array(webhookEvent).min(1),
    secret: z.string().max(500).nullable().optional().describe('If omitted, it remains unchanged; null removes it'),
    active: z.boolean().optional(),
  })
  .meta({ id: 'WebhookInput' });
export const webhookDelivery = z
  .strictObject({
    id: z.int(),
    uuid: z.string().describe('Delivery ID sent to the receiver'),
    event: z.string(),
    state: z.enum(['PENDING', 'DELIVERED', 'FAILED']),
    attempts: z.int(),
    status: z.int().nullable().describe('HTTP status of the last response'),
    response: z.string().nullable().describe('Start of the last response'),
    error: z.string().nullable(),
    tookMs: z.int().nullable(),
    createdAt: time,
    triedAt: time.nullable(),
    redeliveryOf: z.int().nullable(),
  })
  .meta({ id: 'WebhookDelivery' });
export const queuedDelivery = z.strictObject({ id: z.int() }).meta({ id: 'QueuedDelivery' });
