import { readRefPattern, viewerForLog } from '../access/index.ts';
import type { Viewer } from '../access/index.ts';
import { conflict, invalid, isDomainError, notFound } from '../kernel/index.ts';
import { describeFailure } from './send-delivery.ts';
import type { WebhookDeps } from './deps.ts';
import { inScope, scopeColumns, scopeForLog } from './scope.ts';
import type { WebhookScope } from './scope.ts';
import { encryptAuthorization, encryptSecret } from './encrypt-secret.ts';
import { webhookDeliverySchema, webhookEvents, webhookSchema } from './webhook-schema.ts';
import type {
  WebhookContentType,
  WebhookDeliveryRow,
  WebhookEvent,
  WebhookKind,
  WebhookRow,
} from './webhook-schema.ts';

/** A webhook without its secret. */
export interface Webhook {
  id: string;
  url: string;
  hasSecret: boolean;
  events: WebhookEvent[];
  isActive: boolean;
  kind: WebhookKind;
  contentType: WebhookContentType;
  branchFilter: string;
  channel: string;
  hasAuthorization: boolean;
  createdAt: number;
  updatedAt: number;
  /** The newest delivery; null if there is none. */
  last: Pick<WebhookDeliveryRow, 'state' | 'status' | 'error' | 'createdAt' | 'triedAt'> | null;
}

export interface WebhookInput {
  url: string;
  /** Unchanged if omitted or empty; `null` removes it. */
  secret?: string | null | undefined;
  events: readonly string[];
  isActive?: boolean | undefined;
  /** If omitted, these stay, or default to `gitea`, `json` and empty. */
  kind?: WebhookKind | undefined;
  contentType?: WebhookContentType | undefined;
  branchFilter?: string | undefined;
  channel?: string | undefined;
  /** Unchanged if omitted; empty removes it. */
  authorization?: string | undefined;
}

const maxPerScope = 20;
const maxUrlLength = 1_000;
const maxSecretLength = 500;

const webhookNotFound = () => notFound('webhook_not_found', 'There is no such webhook.');

/** Webhooks of a scope, oldest first. */
export async function listWebhooks(deps: WebhookDeps, scope: WebhookScope): Promise<Webhook[]> {
  const rows = await deps.db.read.find(webhookSchema, {
    where: inScope(scope),
    order: { createdAt: 'ASC', id: 'ASC' },
  });
  return Promise.all(rows.map((row) => describe(deps, row)));
}

/** Throws `webhook_not_found`, also for a webhook of another scope. */
export async function findWebhook(deps: WebhookDeps, scope: WebhookScope, id: string): Promise<Webhook> {
  const row = await deps.db.read.findOneBy(webhookSchema, { ...inScope(scope), id });
  if (row === null) throw webhookNotFound();
  return describe(deps, row);
}

async function describe(
  { db }: WebhookDeps,
  { secretCiphertext, authorizationCiphertext, repositoryId: _r, organisationId: _o, userId: _u, ...row }: WebhookRow,
): Promise<Webhook> {
  const last = await db.read.findOne(webhookDeliverySchema, { where: { webhookId: row.id }, order: { id: 'DESC' } });
  return { ...row, hasSecret: secretCiphertext !== null, hasAuthorization: authorizationCiphertext !== null, last };
}

/**
 * Creates a webhook. Checks its URL without contacting it. Throws `invalid_webhook_url`, `no_events`, `unknown_event`,
 * `invalid_webhook_secret`, `invalid_branch_filter`, `invalid_channel`, `invalid_authorization`, `too_many_webhooks`.
 */
export async function addWebhook(
  deps: WebhookDeps,
  viewer: Viewer,
  scope: WebhookScope,
  input: WebhookInput,
): Promise<Webhook> {
  const { db, random, logger } = deps;
  const changes = await read(deps, input);
  const id = random.uuid();
  const secret = readSecret(input.secret);
  await db.write(async ({ manager, now }) => {
    if ((await manager.countBy(webhookSchema, inScope(scope))) >= maxPerScope) {
      throw conflict('too_many_webhooks', `There are already ${maxPerScope} webhooks here.`);
    }
    await manager.insert(webhookSchema, {
      id,
      ...scopeColumns(scope),
      ...changes,
      isActive: input.isActive ?? true,
      createdAt: now,
      updatedAt: now,
      secretCiphertext: secret == null ? null : encryptSecret(deps, id, secret),
      kind: input.kind ?? 'gitea',
      contentType: input.contentType ?? 'json',
      branchFilter: input.branchFilter ?? '',
      channel: input.channel ?? '',
      authorizationCiphertext: input.authorization ? encryptAuthorization(deps, id, input.authorization) : null,
    });
  });
  logger.info('webhook.added', {
    webhookId: id,
    ...scopeForLog(scope),
    host: new URL(changes.url).host,
    by: viewerForLog(viewer),
  });
  return findWebhook(deps, scope, id);
}

/** Throws the errors of `addWebhook` and `webhook_not_found`. */
export async function editWebhook(
  deps: WebhookDeps,
  viewer: Viewer,
  scope: WebhookScope,
  id: string,
  input: WebhookInput,
): Promise<Webhook> {
  const changes = await read(deps, input);
  const secret = readSecret(input.secret);
  await deps.db.write(async ({ manager, now }) => {
    const row = await manager.findOneBy(webhookSchema, { ...inScope(scope), id });
    if (row === null) throw webhookNotFound();
    const sealed =
      secret === undefined ? {} : { secretCiphertext: secret === null ? null : encryptSecret(deps, id, secret) };
    await manager.update(
      webhookSchema,
      { id },
      {
        ...changes,
        ...sealed,
        ...(input.authorization !== undefined && {
          authorizationCiphertext:
            input.authorization === '' ? null : encryptAuthorization(deps, id, input.authorization),
        }),
        isActive: input.isActive ?? row.isActive,
        kind: input.kind ?? row.kind,
        contentType: input.contentType ?? row.contentType,
        branchFilter: input.branchFilter ?? row.branchFilter,
        channel: input.channel ?? row.channel,
        updatedAt: now,
      },
    );
  });
  deps.logger.info('webhook.edited', {
    webhookId: id,
    ...scopeForLog(scope),
    host: new URL(changes.url).host,
    by: viewerForLog(viewer),
  });
  return findWebhook(deps, scope, id);
}

/** Removes a webhook with its pending deliveries. Throws `webhook_not_found`. */
export async function removeWebhook(
  { db, logger }: WebhookDeps,
  viewer: Viewer,
  scope: WebhookScope,
  id: string,
): Promise<void> {
  const { affected } = await db.write(({ manager }) => manager.delete(webhookSchema, { ...inScope(scope), id }));
  if (affected === 0) throw webhookNotFound();
  logger.info('webhook.removed', { webhookId: id, ...scopeForLog(scope), by: viewerForLog(viewer) });
}

async function read(
  { outbound }: WebhookDeps,
  { url, events, branchFilter = '', channel = '', authorization = '' }: WebhookInput,
): Promise<Pick<WebhookRow, 'url' | 'events'>> {
  const text = url.trim();
  const refuse = (message: string, cause?: unknown) => invalid('invalid_webhook_url', message, { field: 'url', cause });
  if (text.length > maxUrlLength) throw refuse(`An address has at most ${maxUrlLength} characters.`);
  const judged = await outbound.checkUrl(text).catch((error: unknown) => {
    if (!isDomainError(error)) throw error;
    // Adds the name of the form field to any error.
    throw refuse(describeFailure(error, text), error);
  });
  const unknown = events.find((event) => !(webhookEvents as readonly string[]).includes(event));
  if (unknown !== undefined)
    throw invalid('unknown_event', `There is no event ${unknown}: choose from ${webhookEvents.join(', ')}.`, {
      field: 'events',
    });
  if (!['', '*', '**'].includes(branchFilter) && typeof readRefPattern(branchFilter) === 'string')
    throw invalid('invalid_branch_filter', 'This is not a valid branch pattern.', { field: 'branch_filter' });
  if (channel.length > maxSecretLength || /[\x00-\x1f\x7f]/.test(channel))
    throw invalid('invalid_channel', 'This is not a valid channel name.', { field: 'channel' });
  if (authorization.length > maxSecretLength || /[^\x20-\x7e]/.test(authorization))
    throw invalid('invalid_authorization', 'This is not a valid header value.', { field: 'authorization_header' });
  if (events.length === 0) throw invalid('no_events', 'Choose at least one event.', { field: 'events' });
  return { url: judged.href, events: webhookEvents.filter((event) => events.includes(event)) };
}

/** Undefined keeps the current secret. */
function readSecret(secret: string | null | undefined): string | null | undefined {
  if (secret === null) return null;
  if (secret === undefined || secret === '') return undefined;
  if (secret.length > maxSecretLength)
    throw invalid('invalid_webhook_secret', `A secret can have at most ${maxSecretLength} characters.`, {
      field: 'secret',
    });
  return secret;
}
