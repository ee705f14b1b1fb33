import { internal, isDomainError } from '../kernel/index.ts';
import type { DomainError } from '../kernel/index.ts';
import { rows } from '../db/index.ts';
import { allowedHostsHint } from '../outbound/index.ts';
import type { Handled, Handler, Message, Outcome } from '../outbox/index.ts';
import { classifyStatus } from './classify-status.ts';
import { webhookKind } from './enqueue-delivery.ts';
import { renderBody } from './events/bodies.ts';
import type { WebhookDeps } from './deps.ts';
import { formatDelivery } from './chat-formats.ts';
import { decryptAuthorization, decryptSecret } from './encrypt-secret.ts';
import { deliveryHeaders } from './sign-delivery.ts';
import { webhookSchema } from './webhook-schema.ts';
import type { WebhookMessageRow, WebhookRow } from './webhook-schema.ts';

/** Limit in bytes of the response that is read and stored. */
const maxResponseBytes = 256 * 1024;
const storedResponseLength = 4_096;

/** Details of the last attempt, shown on the page of the delivery. */
type Details = Pick<WebhookMessageRow, 'status' | 'response'> & { isWritten: boolean };

/** Data of a message for an attempt, except the body. */
type SentMessage = Pick<WebhookMessageRow, 'uuid' | 'event' | 'about'>;

/** Retention time of deliveries in milliseconds. */
const retentionMs = 30 * 86_400_000;

/**
 * Outbox handler of webhook deliveries: one message per webhook at a time, eight webhooks concurrently.
 */
export function webhookHandler(deps: WebhookDeps): Handler<Details> {
  return {
    kind: webhookKind,
    slots: 8,
    // Longer than the ten seconds of `outbound`, whose error is more specific.
    timeoutMs: 30_000,
    maxAttempts: deps.settings.maxAttempts,
    keepMs: retentionMs,
    handle: (message, signal) => sendDelivery(deps, message, signal),
    async record({ manager }, { id }, { startedAt, tookMs, details }) {
      const { isWritten = false, status = null, response = null } = details ?? {};
      await rows(
        manager,
        `UPDATE webhook_messages SET tried_at = ?, took_ms = ?, status = ?, response = ? ${isWritten ? ', about = NULL' : ''} WHERE id = ?`,
        [startedAt, tookMs, status, response, id],
      );
    },
    recorded({ id, key }, { outcome: { error }, state, details }) {
      if (error !== null)
        deps.logger.info('webhook.not_delivered', {
          webhookId: key,
          delivery: id,
          status: details?.status ?? null,
          error,
          state,
        });
    },
  };
}

/** Makes one attempt. */
async function sendDelivery(deps: WebhookDeps, message: Message, signal: AbortSignal): Promise<Handled<Details>> {
  const { db } = deps;
  const [[row], hook] = await Promise.all([
    rows<SentMessage>(db.read, 'SELECT uuid, event, about FROM webhook_messages WHERE id = ?', [message.id]),
    db.read.findOneBy(webhookSchema, { id: message.key }),
  ]);
  const details = { status: null, response: null, isWritten: false };
  const payload = message.payload ?? (row === undefined ? null : await renderBody(deps, row.event, row.about));
  if (row === undefined || hook === null || payload === null)
    return { outcome: { error: 'What it is about is gone.', mayRetry: false }, details };
  const { outcome, status, response } = await attempt(deps, hook, row, payload, signal);
  return { outcome, payload, details: { ...details, status, response, isWritten: true } };
}

async function attempt(
  deps: WebhookDeps,
  hook: WebhookRow,
  { event, uuid }: SentMessage,
  payload: string,
  signal: AbortSignal,
): Promise<Pick<WebhookMessageRow, 'status' | 'response'> & { outcome: Outcome }> {
  try {
    const { method, url, contentType, body, headers: own } = formatDelivery(hook, { event, uuid }, payload);
    const authorization = decryptAuthorization(deps, hook);
    const headers = {
      ...deliveryHeaders({ event, uuid, body, secret: decryptSecret(deps, hook) }),
      ...own,
      'Content-Type': contentType,
      ...(authorization !== null && { Authorization: authorization }),
    };
    const response = await deps.outbound.send({
      method,
      url,
      headers,
      body,
      maxBytes: maxResponseBytes,
      signal,
    });
    return {
      status: response.status,
      response: response.body.toString('utf8').replaceAll('\0', '').slice(0, storedResponseLength),
      outcome: classifyStatus(response.status),
    };
  } catch (error) {
    // The outbox knows why the attempt was aborted.
    if (signal.aborted) throw error;
    const fault = isDomainError(error) ? error : internal('a delivery failed', { cause: error });
    if (fault.code === 'internal') deps.logger.error('webhook.attempt_failed', { webhookId: hook.id, error });
    const outcome = { error: describeFailure(fault, hook.url), mayRetry: fault.code === 'unavailable' };
    return { status: null, response: null, outcome };
  }
}

/** Warning about http URLs. */
export const plainHttpRisk =
  'Without TLS, anyone on the network path can read each message, and change it unless the receiver verifies its signature.';

/**
 * Explains why a delivery failed; a rejection by this server names the setting that an administrator can change.
 * @param url URL of the receiver
 */
export function describeFailure({ reason, message }: DomainError, url: string): string {
  const hint = allowedHostsHint('webhooks.allowed_hosts', url);
  if (reason === 'https_only' && url.startsWith('http:'))
    return `Only https is allowed; http is for hosts that an administrator has named. ${hint}`;
  if (/not public|not a public/.test(message)) return `${message} ${hint}`;
  return reason === 'internal' ? 'The secret does not open with this server’s key. Set it again.' : message;
}
