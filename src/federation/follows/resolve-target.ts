import { invalid, isDomainError } from '../../kernel/index.ts';
import { asObject, cleanText, typesOf } from '../documents/json-fields.ts';
import { followableTypes } from '../actors/parse-remote-actor.ts';
import { parseJson } from '../actors/fetch-document.ts';
import type { RemoteActor } from '../schema/remote-actor-schema.ts';
import type { FederationDeps } from '../deps.ts';
import { parseFollowTarget } from './follow-target.ts';

/** Size limit of a WebFinger response in bytes. */
const maxBytes = 64 * 1024;

/**
 * Resolves a follow target (SPEC §4.7): by WebFinger, or by its URL. A page's URL is resolved by WebFinger, too. The
 * server is always asked, because a cached result may be outdated. Throws `unresolvable_handle` in the words of SPEC §7
 * and the likely cause, which does not reveal what a server hides; `local_target` for local ones.
 */
export async function resolveTarget(deps: FederationDeps, text: string): Promise<RemoteActor> {
  const target = parseFollowTarget(text);
  if (target === null) throw unresolvable('Write owner/name@host, user@host or the address of a repository.');
  const url = target.kind === 'url' ? new URL(target.url) : new URL(`${schemeOf(deps)}//${target.host}`);
  if (url.host === new URL(deps.settings.origin).host) {
    throw invalid('local_target', 'This repository is on this server. Watch it on its page instead.', {
      field: 'target',
    });
  }
  const actor = await explaining(url.host, async () => {
    await deps.outbound.checkUrl(url.href);
    return target.kind === 'handle' ? discover(deps, url, `acct:${target.account}`) : actorOrPage(deps, url);
  });
  if (!followableTypes.has(actor.type)) throw unusable(url.host);
  return actor;
}

/** In development peers may speak http; a handle does not say which. */
function schemeOf({ settings }: FederationDeps): string {
  return settings.devAllowInsecure ? new URL(settings.origin).protocol : 'https:';
}

async function actorOrPage(deps: FederationDeps, url: URL): Promise<RemoteActor> {
  try {
    return await deps.remoteActors.actor(url.href, { fresh: true });
  } catch (error) {
    if (!isDomainError(error) || error.reason !== 'document_unusable') throw error;
    return discover(deps, url, url.href);
  }
}

/** The actor that WebFinger names, with its WebFinger handle. */
async function discover(deps: FederationDeps, url: URL, resource: string): Promise<RemoteActor> {
  const { self, subject } = await queryWebFinger(deps, url, resource);
  const handleFor = (actor: RemoteActor): string | null =>
    readAccount(subject, url, actor) ?? readAccount(resource, url, actor);
  return deps.remoteActors.actor(self, { fresh: true, handleFor });
}

/** `acct:bob/tool@host` as a handle, when the host is the one that was asked or that of the actor. */
function readAccount(account: string, requestedUrl: URL, actor: RemoteActor): string | null {
  const [, name, host = ''] = /^acct:([^@\s]+)@([^@\s]+)$/i.exec(account) ?? [];
  const own = URL.parse(actor.id)?.hostname;
  if (name === undefined) return null;
  if (host.toLowerCase() === requestedUrl.host && requestedUrl.hostname !== own)
    return `${cleanText(name, 200)}@${requestedUrl.host}`;
  const isOwn = [actor.host, own, requestedUrl.host].includes(host.toLowerCase());
  return isOwn ? `${cleanText(name, 200)}@${actor.host}` : null;
}

/** WebFinger (RFC 7033). The host of the actor is checked like any other when it is fetched. */
async function queryWebFinger(
  { outbound }: FederationDeps,
  { origin, host }: URL,
  resource: string,
): Promise<{ self: string; subject: string }> {
  const url = `${origin}/.well-known/webfinger?resource=${encodeURIComponent(resource)}`;
  const headers = { Host: host, Accept: 'application/jrd+json, application/json' };
  const response = await outbound.send({ method: 'GET', url, headers, maxBytes });
  if (response.status === 404 || response.status === 410) throw missing(host);
  if (response.status !== 200) throw unusable(host);
  const { links, subject } = parseJson(response.body, url);
  for (const each of Array.isArray(links) ? links : []) {
    const { rel, type, href } = asObject(each);
    const isActor = typesOf(type).some((name) => /^application\/(activity\+json|ld\+json)/.test(name));
    if (rel === 'self' && isActor && typeof href === 'string')
      return { self: href, subject: typeof subject === 'string' ? subject : '' };
  }
  throw unusable(host);
}

/** Reports one of four causes; the details are only logged. */
export async function explaining<T>(host: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (!isDomainError(error) || error.reason === 'unresolvable_handle') throw error;
    switch (error.reason) {
      case 'host_not_allowed':
        throw unresolvable(`${host} is not on this server's peer list; an administrator can add it.`, error);
      case 'https_only':
      case 'invalid_url':
        throw unresolvable('Only https addresses without a name or password in them are used.', error);
      case 'document_missing':
        throw missing(host, error);
      case 'document_unusable':
        throw unusable(host, error);
      default:
        throw unresolvable(`${host} did not answer.`, error);
    }
  }
}

const missing = (host: string, cause?: unknown) =>
  unresolvable(`${host} knows no public repository or person of this name.`, cause);
const unusable = (host: string, cause?: unknown) =>
  unresolvable(`The response of ${host} is neither a repository nor a person.`, cause);

function unresolvable(cause: string, error?: unknown) {
  return invalid('unresolvable_handle', `Could not resolve handle. ${cause}`, { field: 'target', cause: error });
}
