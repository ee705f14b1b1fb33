import { internal, isDomainError } from '../kernel/index.ts';
import type { DomainError } from '../kernel/index.ts';
import { howToAllow } from '../outbound/index.ts';
import { classifyStatus, nextState } from './delivery-state.ts';
import type { Outcome } from './delivery-state.ts';
import { runPayload } from './payloads.ts';
import type { EndedRun } from './payloads.ts';
import type { WebhookDeps } from './deps.ts';
import { decryptSecret } from './encrypt-secret.ts';
import { deliveryHeaders } from './sign-delivery.ts';
import { webhookDeliverySchema, webhookSchema } from './webhook-schema.ts';
import type { WebhookDeliveryRow, WebhookRow } from './webhook-schema.ts';

/** How much of a response is read and stored, in bytes. */
const maxAnswerBytes = 256 * 1024;
const keptAnswerLength = 4_096;

/** Makes one attempt for a claimed row and records the result. */
export async function sendDelivery(
  deps: WebhookDeps,
  row: WebhookDeliveryRow,
  version: string,
  signal: AbortSignal,
): Promise<void> {
  const { db, logger, settings } = deps;
  const hook = await db.read.findOneBy(webhookSchema, { id: row.webhookId });
  if (hook === null) return;
  const payload = row.payload ?? (await writePayload(deps, row));
  const outcome = await attempt(deps, hook, row, payload, version, signal);
  if (signal.aborted) return;
  const next = nextState(row, outcome, settings.maxAttempts);
  await db.write(({ manager }) =>
    manager.update(
      webhookDeliverySchema,
      { id: row.id, state: 'PENDING' },
      { ...next, payload, about: payload === null ? row.about : null },
    ),
  );
  if (outcome.error !== null)
    logger.info('webhook.not_delivered', {
      webhookId: hook.id,
      delivery: row.id,
      status: outcome.status,
      error: outcome.error,
      state: next.state,
    });
}

/** Null when its subject was deleted. */
async function writePayload(
  { repositories, accounts, settings }: WebhookDeps,
  { about }: WebhookDeliveryRow,
): Promise<string | null> {
  if (about === null) return null;
  const { repositoryId, run } = JSON.parse(about) as { repositoryId: string; run: EndedRun };
  const located = (await repositories.locate([repositoryId])).get(repositoryId);
  if (located === undefined) return null;
  const actor = run.actorId === null ? null : ((await accounts.peopleById([run.actorId])).get(run.actorId) ?? null);
  return JSON.stringify(runPayload(located, run, actor, settings));
}

async function attempt(
  deps: WebhookDeps,
  hook: WebhookRow,
  { event, uuid }: WebhookDeliveryRow,
  payload: string | null,
  version: string,
  signal: AbortSignal,
): Promise<Outcome> {
  const triedAt = deps.clock.now();
  const began = performance.now();
  const ended = (rest: Omit<Outcome, 'triedAt' | 'tookMs'>): Outcome => ({
    ...rest,
    triedAt,
    tookMs: Math.round(performance.now() - began),
  });
  const none = { status: null, response: null };
  if (payload === null) return ended({ ...none, error: 'What it is about is gone.', mayRetry: false });
  try {
    const body = Buffer.from(payload);
    const headers = deliveryHeaders({ event, uuid, body, secret: decryptSecret(deps, hook), version });
    const answer = await deps.outbound.send({
      method: 'POST',
      url: hook.url,
      headers,
      body,
      maxBytes: maxAnswerBytes,
      signal,
    });
    return ended({
      status: answer.status,
      response: answer.body.toString('utf8').replaceAll('\0', '').slice(0, keptAnswerLength),
      ...classifyStatus(answer.status),
    });
  } catch (error) {
    const fault = isDomainError(error) ? error : internal('a delivery failed', { cause: error });
    if (fault.code === 'internal') deps.logger.error('webhook.attempt_failed', { webhookId: hook.id, error });
    return ended({ ...none, error: describeFailure(fault, hook.url), mayRetry: fault.code === 'unavailable' });
  }
}

/** Warning about http URLs. */
export const plainHttpRisk =
  'Without TLS, anybody on the network path can read each message, and change it unless the receiver verifies its signature.';

/**
 * Why a delivery failed; a refusal by this server names the setting that an administrator can change.
 * @param url of the receiver
 */
export function describeFailure({ reason, message }: DomainError, url: string): string {
  const hint = howToAllow('webhooks.allowed_hosts', url);
  if (reason === 'https_only' && url.startsWith('http:'))
    return `Only https is allowed; http is for hosts that an administrator has named. ${hint}`;
  if (/not public|not a public/.test(message)) return `${message} ${hint}`;
  return reason === 'internal' ? 'The secret does not open with this server’s key. Set it again.' : message;
}
