import { EntitySchema } from 'typeorm';
import type { MessageState } from '../outbox/index.ts';

/**
 * Events of webhooks; `run` is the end of a workflow run. `deployment` and `deployment_status` are GitHub's; the
 * names of the others are Gitea's.
 */
export const webhookEvents = [
  'push',
  'create',
  'delete',
  'fork',
  'repository',
  'run',
  'status',
  'deployment',
  'deployment_status',
  'release',
  'package',
  'gollum',
  'issues',
  'issue_comment',
  'issue_label',
  'issue_assign',
  'issue_milestone',
  'pull_request',
  'pull_request_sync',
  'pull_request_comment',
  'pull_request_label',
  'pull_request_assign',
  'pull_request_milestone',
  'pull_request_review_request',
  'pull_request_review_approved',
  'pull_request_review_rejected',
  'pull_request_review_comment',
] as const;
export type WebhookEvent = (typeof webhookEvents)[number];

/** Kinds of receivers: `gitea`, `forgejo` and `gogs` get the payload itself, chats a message about it. */
export const webhookKinds = [
  'gitea',
  'forgejo',
  'gogs',
  'slack',
  'discord',
  'matrix',
  'telegram',
  'msteams',
  'ntfy',
] as const;
export type WebhookKind = (typeof webhookKinds)[number];

export const webhookContentTypes = ['json', 'form'] as const;
export type WebhookContentType = (typeof webhookContentTypes)[number];

/** A row of `webhooks`. At most one of repository, organisation and user is set: none for webhooks of the server. */
export interface WebhookRow {
  id: string;
  repositoryId: string | null;
  organisationId: string | null;
  userId: string | null;
  url: string;
  /** Encrypted; null for unsigned deliveries. */
  secretCiphertext: string | null;
  events: WebhookEvent[];
  isActive: boolean;
  kind: WebhookKind;
  contentType: WebhookContentType;
  /** Pattern of branches whose pushes are sent; empty for all. */
  branchFilter: string;
  /** Channel of a chat with several; empty for the default one. */
  channel: string;
  /** The encrypted `Authorization` header, or null. */
  authorizationCiphertext: string | null;
  createdAt: number;
  updatedAt: number;
}

/** A row of `webhook_messages`: data of a delivery in addition to its outbox message, which has the same id. */
export interface WebhookMessageRow {
  id: number;
  /** Id of the delivery for the receiver. */
  uuid: string;
  webhookId: string;
  /** Name of the event for the receiver: `push`, `create`, `delete`, `workflow_run`, `issues`, `ping` … */
  event: string;
  /** The source of the body, until the body is rendered. */
  about: string | null;
  /** Time of the last attempt. */
  triedAt: number | null;
  tookMs: number | null;
  status: number | null;
  /** The start of the response. */
  response: string | null;
  redeliveryOf: number | null;
}

/**
 * A row of the view `webhook_deliveries`: one event for one receiver. PENDING until the receiver has accepted it
 * (DELIVERED) or it has failed permanently (FAILED).
 */
export interface WebhookDeliveryRow extends WebhookMessageRow {
  /** The body, which is the same for every attempt. */
  payload: string | null;
  state: MessageState;
  attempts: number;
  nextAttemptAt: number;
  /** Until then it belongs to the delivery run that claimed it. */
  lockedUntil: number;
  createdAt: number;
  error: string | null;
}

export const webhookSchema = new EntitySchema<WebhookRow>({
  name: 'webhook',
  tableName: 'webhooks',
  columns: {
    id: { type: 'text', primary: true },
    repositoryId: { name: 'repository_id', type: 'text', nullable: true },
    organisationId: { name: 'organisation_id', type: 'text', nullable: true },
    userId: { name: 'user_id', type: 'text', nullable: true },
    url: { type: 'text' },
    secretCiphertext: { name: 'secret_ciphertext', type: 'text', nullable: true },
    events: { type: 'simple-json' },
    isActive: { name: 'is_active', type: 'boolean' },
    kind: { type: 'text' },
    contentType: { name: 'content_type', type: 'text' },
    branchFilter: { name: 'branch_filter', type: 'text' },
    channel: { type: 'text' },
    authorizationCiphertext: { name: 'authorization_ciphertext', type: 'text', nullable: true },
    createdAt: { name: 'created_at', type: 'integer' },
    updatedAt: { name: 'updated_at', type: 'integer' },
  },
});

const messageColumns = {
  uuid: { type: 'text' },
  webhookId: { name: 'webhook_id', type: 'text' },
  event: { type: 'text' },
  about: { type: 'text', nullable: true },
  triedAt: { name: 'tried_at', type: 'integer', nullable: true },
  tookMs: { name: 'took_ms', type: 'integer', nullable: true },
  status: { type: 'integer', nullable: true },
  response: { type: 'text', nullable: true },
  redeliveryOf: { name: 'redelivery_of', type: 'integer', nullable: true },
} as const;

export const webhookMessageSchema = new EntitySchema<WebhookMessageRow>({
  name: 'webhookMessage',
  tableName: 'webhook_messages',
  columns: { id: { type: 'integer', primary: true }, ...messageColumns },
});

/** Read-only: a delivery is written as its message and its row of `webhook_messages`. */
export const webhookDeliverySchema = new EntitySchema<WebhookDeliveryRow>({
  name: 'webhookDelivery',
  tableName: 'webhook_deliveries',
  columns: {
    id: { type: 'integer', primary: true },
    ...messageColumns,
    payload: { type: 'text', nullable: true },
    state: { type: 'text' },
    attempts: { type: 'integer' },
    nextAttemptAt: { name: 'next_attempt_at', type: 'integer' },
    lockedUntil: { name: 'locked_until', type: 'integer' },
    createdAt: { name: 'created_at', type: 'integer' },
    error: { type: 'text', nullable: true },
  },
});
