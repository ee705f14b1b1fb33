import { z } from 'zod';
import { plainHttpWebhookRisk, webhookEvents } from '../../../webhooks/index.ts';
import { time } from '../shapes/schemas.ts';

const webhookEvent = z.enum(webhookEvents);
export const webhook = z
  .strictObject({
    id: z.string(),
    url: z.string(),
    hasSecret: z.boolean().describe('Whether messages are signed; the secret itself is never told'),
    events: z.array(webhookEvent),
    active: z.boolean(),
    createdAt: time,
    updatedAt: time,
  })
  .meta({ id: 'Webhook' });
export const webhookInput = z
  .strictObject({
    url: z.string().describe(`An https address, or http for hosts of webhooks.allowed_hosts. ${plainHttpWebhookRisk}`),
    events: z.array(webhookEvent).min(1),
    secret: z.string().max(500).nullable().optional().describe('Left out, it stays; null takes it away'),
    active: z.boolean().optional(),
  })
  .meta({ id: 'WebhookInput' });
export const webhookDelivery = z
  .strictObject({
    id: z.int(),
    uuid: z.string().describe('What the receiver knows it by'),
    event: z.string(),
    state: z.enum(['PENDING', 'DELIVERED', 'FAILED']),
    attempts: z.int(),
    status: z.int().nullable().describe('Of the last answer'),
    response: z.string().nullable().describe('The beginning of the last answer'),
    error: z.string().nullable(),
    tookMs: z.int().nullable(),
    createdAt: time,
    triedAt: time.nullable(),
    redeliveryOf: z.int().nullable(),
  })
  .meta({ id: 'WebhookDelivery' });
export const queuedDelivery = z.strictObject({ id: z.int() }).meta({ id: 'QueuedDelivery' });
