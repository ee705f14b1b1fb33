import { isIP } from 'node:net';
import { isDomainError } from '../../kernel/index.ts';
import { activityStreams } from '../documents/contexts.ts';
import { asObject } from '../documents/json-fields.ts';
import { saidIn } from '../documents/said-in.ts';
import { readSoftware } from './learn-software.ts';
import { instancePath } from '../actors/actor-paths.ts';
import { parseJson } from '../actors/fetch-document.ts';
import { instanceActor } from '../actors/find-actor.ts';
import type { RemoteActor } from '../schema/remote-actor-schema.ts';
import { requireFederationOn } from '../require-federation-on.ts';
import type { FederationDeps } from '../deps.ts';
import { signRequest } from '../signatures/index.ts';

/** One check of the connection to another server. */
export interface PeerCheck {
  name: 'allowed' | 'resolve' | 'webfinger' | 'actor' | 'clock' | 'signature';
  /** `null` if a previous step that it needs has failed. */
  ok: boolean | null;
  words: string;
}

const maxBytes = 64 * 1024;
const clockToleranceMs = 5 * 60_000;

/**
 * Checks the connection to another server step by step, along the path of deliveries. The last step sends an activity
 * without effect: its acceptance shows whether the peer allows this server and can read its key. Throws
 * `federation_off`.
 */
export async function checkPeer(deps: FederationDeps, host: string): Promise<PeerCheck[]> {
  requireFederationOn(deps);
  const scheme = deps.settings.devAllowInsecure ? new URL(deps.settings.origin).protocol : 'https:';
  const url = new URL(`${scheme}//${host.toLowerCase()}`);
  const checks: PeerCheck[] = [];
  const run = async <T>(
    name: PeerCheck['name'],
    needs: unknown,
    work: () => Promise<{ words: string; ok?: boolean | null; result: T }>,
  ): Promise<T | null> => {
    if (needs === null) {
      checks.push({ name, ok: null, words: 'not tried' });
      return null;
    }
    try {
      const { words, ok = true, result } = await work();
      checks.push({ name, ok, words });
      return ok === true ? result : null;
    } catch (error) {
      if (!isDomainError(error)) throw error;
      checks.push({ name, ok: false, words: error.message });
      return null;
    }
  };

  const allowed = await run('allowed', true, async () => {
    await deps.outbound.checkUrl(url.href);
    return { words: `${url.host} is on this server's peer list`, result: true };
  });
  const resolved = await run('resolve', allowed, () => resolveHost(deps, url));
  const webFinger = await run('webfinger', resolved, () => queryWebFinger(deps, url));
  const actor = await run('actor', webFinger, () => readInstance(deps, url));
  await run('clock', webFinger, async () => checkClock(deps, webFinger!));
  await run('signature', actor, () => trySignature(deps, actor!));
  // It responds, so deliveries to its followers resume.
  if (actor !== null) await deps.recordContact(url.host);
  return checks;
}

async function resolveHost({ outbound }: FederationDeps, url: URL) {
  const name = url.hostname.replace(/^\[|\]$/g, '');
  if (isIP(name) !== 0) return { words: `${name} is an address`, result: true };
  const found = await outbound.addressesOf(name).catch(() => []);
  const inner = found.find(({ isAllowed }) => !isAllowed);
  if (found.length === 0) return { ok: false, words: `${name} does not resolve`, result: true };
  if (inner !== undefined)
    return { ok: false, words: `${name} leads to ${inner.address}, which is not public`, result: true };
  return { words: found.map(({ address }) => address).join(', '), result: true };
}

/** Any WebFinger response passes: the account need not exist. */
async function queryWebFinger({ outbound }: FederationDeps, url: URL) {
  const target = `${url.origin}/.well-known/webfinger?resource=${encodeURIComponent(`acct:nobody@${url.host}`)}`;
  const { status, headers } = await outbound.send({
    method: 'GET',
    url: target,
    headers: { Host: url.host, Accept: 'application/jrd+json' },
    maxBytes,
  });
  const ok = status === 200 || status === 404 || status === 400;
  const words = ok ? 'it answers' : `it answered ${status}; a proxy may have to pass /.well-known/webfinger on`;
  return { ok, words, result: { date: headers.date ?? '' } };
}

/** Its instance actor, from NodeInfo, otherwise at Hearth's default path. */
async function readInstance(
  deps: FederationDeps,
  url: URL,
): Promise<{ words: string; ok?: null; result: RemoteActor | null }> {
  const link = await instanceLink(deps, url);
  try {
    const actor = await deps.remoteActors.actor(link ?? url.origin + instancePath, { fresh: true });
    return { words: actor.id, result: actor };
  } catch (error) {
    if (link !== null || !isDomainError(error) || error.reason !== 'document_missing') throw error;
    const software = await readSoftware(deps, url.origin, url.host).catch(() => null);
    if (software === null || software === 'hearth') throw error;
    const words = `${software} names no actor of its own, so signatures cannot be tried; follow one of its users`;
    return { ok: null, words, result: null };
  }
}

/** URL of its instance actor from NodeInfo; null if it is not listed there. */
async function instanceLink({ outbound }: FederationDeps, url: URL): Promise<string | null> {
  const target = `${url.origin}/.well-known/nodeinfo`;
  const response = await outbound.send({
    method: 'GET',
    url: target,
    headers: { Host: url.host, Accept: 'application/json' },
    maxBytes,
  });
  if (response.status !== 200) return null;
  const links = parseJson(response.body, target)['links'];
  const link = (Array.isArray(links) ? links : [])
    .map(asObject)
    .find(({ rel }) => rel === `${activityStreams}#Application`);
  return typeof link?.['href'] === 'string' ? link['href'] : null;
}

function checkClock({ clock }: FederationDeps, { date }: { date: string }) {
  const distance = Date.parse(date) - clock.now();
  if (!Number.isFinite(distance)) return { ok: false, words: 'it does not say what time it is', result: true };
  const seconds = Math.round(Math.abs(distance) / 1000);
  if (Math.abs(distance) < clockToleranceMs) return { words: `${seconds} s apart`, result: true };
  return {
    ok: false,
    words: `${seconds} s apart: signatures are refused when clocks differ by an hour, some servers are stricter`,
    result: true,
  };
}

async function trySignature(deps: FederationDeps, actor: RemoteActor) {
  const self = await instanceActor(deps);
  const id = `${self.id}/activities/${deps.random.uuid()}`;
  const body = Buffer.from(
    JSON.stringify({ '@context': activityStreams, id, type: 'View', actor: self.id, object: actor.id }),
  );
  const url = await deps.outbound.checkUrl(actor.inbox);
  const signed = await signRequest(
    { method: 'POST', url, body, at: deps.clock.now() },
    await deps.localActors.signingKey(self.path),
  );
  const headers = { ...signed, 'Content-Type': 'application/activity+json' };
  const { status, body: answer } = await deps.outbound.send({
    method: 'POST',
    url: url.href,
    headers,
    body,
    maxBytes,
  });
  if (status >= 200 && status < 300) return { words: 'it accepts what we sign', result: true };
  const why =
    status === 401 || status === 403
      ? `it must allow ${new URL(deps.settings.origin).host}, and reach it to read our key; a proxy must keep the Host header and the path`
      : status === 429 || status === 503
        ? 'it is busy; try again in a minute'
        : 'that is no answer to a signed activity';
  return {
    ok: false,
    words: `it answered ${status}: ${why}${saidIn(answer).replace(/^: /, '; it says: ')}`,
    result: true,
  };
}
