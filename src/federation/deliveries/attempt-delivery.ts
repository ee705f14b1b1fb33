import { isDomainError } from '../../kernel/index.ts';
import type { Outbound } from '../../outbound/index.ts';
import type { FederationDeps } from '../deps.ts';
import type { OutboundResponse } from '../../outbound/index.ts';
import { saidIn } from '../documents/said-in.ts';
import { bodyDigest, signMessage, signRequest } from '../signatures/index.ts';
import type { ClaimedDelivery } from './claim.ts';
import type { Outcome } from './delivery-state.ts';
import { outboxSchema } from '../schema/outbox-schema.ts';
import type { OutboxRow } from '../schema/outbox-schema.ts';
import type { Attempt } from './record-attempts.ts';
import type { IsStillPublic } from './is-still-public.ts';

/** Content of a delivery, shared by thousands of rows. */
export interface OutboxMessage extends Pick<OutboxRow, 'actorPath' | 'repositoryId' | 'type'> {
  body: Buffer;
  /** `Digest` header of the body. */
  digest: string;
}

/** State that the attempts of a run share. */
interface DeliveryRequest {
  /** `null` if the activity was deleted. */
  message: Promise<OutboxMessage | null>;
  isPublic: IsStillPublic;
  signal: AbortSignal;
}

/** Limit of the response body, whose content is ignored. */
const maxResponseBytes = 64 * 1024;

/** Loads an activity; `null` if it was deleted. */
export async function loadMessage({ db }: Pick<FederationDeps, 'db'>, outboxId: string): Promise<OutboxMessage | null> {
  const row = await db.read.findOneBy(outboxSchema, { id: outboxId });
  if (row === null) return null;
  const body = Buffer.from(row.activity);
  const { actorPath, repositoryId, type } = row;
  return { actorPath, repositoryId, type, body, digest: bodyDigest(body) };
}

/**
 * Attempts one delivery, signed now because a signature expires after an hour. Checked in this order: the allowlist and
 * address rules, whether the repository is currently public, then the network.
 */
export async function attempt(
  deps: FederationDeps,
  delivery: ClaimedDelivery,
  request: DeliveryRequest,
): Promise<Attempt> {
  const { metrics } = deps;
  const startedAt = performance.now();
  metrics.attemptsInFlight += 1;
  const done = await tryOnce(deps, delivery, request);
  metrics.attemptsInFlight -= 1;
  if (done.outcome !== null) {
    metrics.attemptSeconds += (performance.now() - startedAt) / 1000;
    const { kind } = done.outcome;
    const isRefusal = kind === 'gone' || kind === 'refused';
    metrics.attempts[!done.wasReached ? 'unreachable' : isRefusal ? 'failed' : kind] += 1;
  }
  return done;
}

async function tryOnce(deps: FederationDeps, delivery: ClaimedDelivery, request: DeliveryRequest): Promise<Attempt> {
  try {
    return { delivery, ...(await send(deps, delivery, await request.message, request)) };
  } catch (error) {
    if (request.signal.aborted) return { delivery, outcome: null, wasReached: true, hasResponded: false };
    if (!isDomainError(error)) deps.logger.error('delivery.fault', { delivery: delivery.id, error });
    const describeFailure = isDomainError(error) ? error.message : 'an internal error';
    return {
      delivery,
      outcome: { kind: 'failed', error: describeFailure },
      wasReached: !isDomainError(error) || error.reason !== 'peer_unreachable',
      hasResponded: !isDomainError(error) || responseFaults.has(error.reason),
    };
  }
}

async function send(
  deps: FederationDeps,
  { targetInbox, key: host }: ClaimedDelivery,
  message: OutboxMessage | null,
  { isPublic, signal }: DeliveryRequest,
): Promise<Omit<Attempt, 'delivery'>> {
  const unsent = { wasReached: true, hasResponded: false };
  if (message === null) return { outcome: { kind: 'forbidden', error: 'the activity is gone' }, ...unsent };
  const { localActors, clock } = deps;
  const { outbound, url } = await wayTo(deps, targetInbox, message);
  if (message.repositoryId !== null && !(await isPublic(message.repositoryId))) {
    return {
      outcome: { kind: 'forbidden', error: 'the repository is no longer public, so this was not sent' },
      ...unsent,
    };
  }
  const key = await localActors.signingKey(message.actorPath);
  const response = await deps.schemes.knock(host, 'POST', async (scheme) => {
    const request = { method: 'POST', url, body: message.body, at: clock.now() } as const;
    const signed =
      scheme === 'rfc9421'
        ? await signMessage(request, key)
        : await signRequest({ ...request, digest: message.digest }, key);
    const headers = { ...signed, 'Content-Type': 'application/activity+json' };
    const { body } = message;
    return outbound.send({ method: 'POST', url: url.href, headers, body, maxBytes: maxResponseBytes, signal });
  });
  const outcome = classifyResponse({ host, type: message.type, response, now: clock.now() });
  return { outcome, wasReached: true, hasResponded: true };
}

/** Only activities for followers may go to unlisted servers; Follows by local users go to servers on the list. */
const forFollowers: ReadonlySet<string> = new Set(['Accept', 'Reject', 'Push', 'Create', 'Delete']);

/** Refuses as `checkUrl` does, with the messages for listed servers. */
async function wayTo(
  { outbound, unlisted }: FederationDeps,
  inbox: string,
  { type }: OutboxMessage,
): Promise<{ outbound: Outbound; url: URL }> {
  try {
    return { outbound, url: await outbound.checkUrl(inbox) };
  } catch (error) {
    const mayBeOpen = isDomainError(error) && error.reason === 'host_not_allowed' && forFollowers.has(type);
    if (unlisted === null || !mayBeOpen) throw error;
    return { outbound: unlisted.outbound, url: await unlisted.outbound.checkUrl(inbox) };
  }
}

/** Error reasons of `outbound.send` that a response causes. */
const responseFaults: ReadonlySet<string> = new Set(['answer_too_large', 'answer_encoded']);

interface Answer {
  host: string;
  /** Activity type. */
  type: string;
  response: OutboundResponse;
  now: number;
}

function classifyResponse({ host, type, response, now }: Answer): Outcome {
  const { status, headers, body } = response;
  if (status >= 200 && status < 300) return { kind: 'delivered' };
  const said = saidIn(body);
  const error = `${host} answered ${status}${words[status] === undefined ? '' : ` (${words[status]})`}${said}`;
  if (status === 410) return { kind: 'gone', error };
  // The attempts of SPEC §3 are for forges; a refused note is not retried.
  if (type === 'Create' && hopeless.has(status)) return { kind: 'refused', error };
  const heeds = status === 429 || status === 503;
  return { kind: 'failed', error, ...(heeds ? { retryAfterMs: readRetryAfter(headers['retry-after'], now) } : {}) };
}

/** Responses to a note that a retry would not change. */
const hopeless: ReadonlySet<number> = new Set([400, 404, 405, 406, 413, 415, 422, 501]);

const words: Record<number, string> = {
  401: 'it does not accept our signature, or does not allow this server; both servers must allow each other',
  403: 'it refuses us',
  404: 'there is no such inbox',
  410: 'the inbox is gone',
  429: 'too many requests',
  503: 'it is busy',
};

/** In seconds, or as a date. */
function readRetryAfter(text: string | undefined, now: number): number {
  if (text === undefined) return 0;
  const ms = /^\d{1,9}$/.test(text) ? Number(text) * 1000 : Date.parse(text) - now;
  return Number.isFinite(ms) && ms > 0 ? ms : 0;
}
