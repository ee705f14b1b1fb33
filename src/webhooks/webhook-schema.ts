import { EntitySchema } from 'typeorm';

/** Events of webhooks; `run` is the end of a workflow run. */
export const webhookEvents = ['push', 'create', 'delete', 'run'] as const;
export type WebhookEvent = (typeof webhookEvents)[number];

/** A row of `webhooks`. Exactly one of repository and organisation is set. */
export interface WebhookRow {
  id: string;
  repositoryId: string | null;
  organisationId: string | null;
  url: string;
  /** Encrypted; null for unsigned deliveries. */
  secretCiphertext: string | null;
  events: WebhookEvent[];
  isActive: boolean;
  createdAt: number;
  updatedAt: number;
}

/**
 * A row of `webhook_deliveries`: one event for one URL. PENDING until the receiver has accepted it (DELIVERED) or it
 * has permanently failed (FAILED).
 */
export interface WebhookDeliveryRow {
  id: number;
  /** The id that the receiver gets. */
  uuid: string;
  webhookId: string;
  /** The event's name for the receiver: `push`, `create`, `delete`, `workflow_run`, `ping`. */
  event: string;
  /** The source of the body, until it is written. */
  about: string | null;
  /** The body; the same for every attempt. */
  payload: string | null;
  state: 'PENDING' | 'DELIVERED' | 'FAILED';
  attempts: number;
  nextAttemptAt: number;
  /** Until then the row belongs to the run of the queue that claimed it. */
  lockedUntil: number;
  createdAt: number;
  /** Time of the last attempt. */
  triedAt: number | null;
  tookMs: number | null;
  status: number | null;
  /** The beginning of the response. */
  response: string | null;
  error: string | null;
  redeliveryOf: number | null;
}

export const webhookSchema = new EntitySchema<WebhookRow>({
  name: 'webhook',
  tableName: 'webhooks',
  columns: {
    id: { type: 'text', primary: true },
    repositoryId: { name: 'repository_id', type: 'text', nullable: true },
    organisationId: { name: 'organisation_id', type: 'text', nullable: true },
    url: { type: 'text' },
    secretCiphertext: { name: 'secret_ciphertext', type: 'text', nullable: true },
    events: { type: 'simple-json' },
    isActive: { name: 'is_active', type: 'boolean' },
    createdAt: { name: 'created_at', type: 'integer' },
    updatedAt: { name: 'updated_at', type: 'integer' },
  },
});

export const webhookDeliverySchema = new EntitySchema<WebhookDeliveryRow>({
  name: 'webhookDelivery',
  tableName: 'webhook_deliveries',
  columns: {
    id: { type: 'integer', primary: true, generated: 'increment' },
    uuid: { type: 'text' },
    webhookId: { name: 'webhook_id', type: 'text' },
    event: { type: 'text' },
    about: { type: 'text', nullable: true },
    payload: { type: 'text', nullable: true },
    state: { type: 'text' },
    attempts: { type: 'integer' },
    nextAttemptAt: { name: 'next_attempt_at', type: 'integer' },
    lockedUntil: { name: 'locked_until', type: 'integer' },
    createdAt: { name: 'created_at', type: 'integer' },
    triedAt: { name: 'tried_at', type: 'integer', nullable: true },
    tookMs: { name: 'took_ms', type: 'integer', nullable: true },
    status: { type: 'integer', nullable: true },
    response: { type: 'text', nullable: true },
    error: { type: 'text', nullable: true },
    redeliveryOf: { name: 'redelivery_of', type: 'integer', nullable: true },
  },
});
