import { networkPrefix, invalid, isDomainError, rateLimited } from '../../kernel/index.ts';
import type { Outbound } from '../../outbound/index.ts';
import { parseJson } from '../actors/fetch-document.ts';
import type { FederationDeps } from '../deps.ts';
import { asObject, webUrl } from '../documents/json-fields.ts';
import { parseFollowTarget } from '../follows/follow-target.ts';
import { requireFederationOn } from '../require-federation-on.ts';

const subscribe = 'http://ostatus.org/schema/1.0/subscribe';
const maxBytes = 64 * 1024;

/**
 * The page of a client's own server on which its user follows a subject of this one: the subscription template in the
 * server's WebFinger response (OStatus 1.0) with the URL inserted. Contacts servers on the list and, while followers
 * from all servers are accepted, every other server that is not blocked.
 *
 * Throws `federation_off`, `own_handle` unless it is `name@host` of another server, `host_unknown` for a server that
 * may not be contacted, `no_subscribe_page` if the server names none, `too_many_lookups`.
 * @param handle as typed; @param uri the subject: an actor id of this server
 * @param address of the client
 */
export async function findSubscribePage(
  deps: FederationDeps,
  { handle, uri, address }: { handle: string; uri: string; address: string },
): Promise<{ host: string; url: string }> {
  requireFederationOn(deps);
  const target = parseFollowTarget(handle);
  const own = new URL(deps.settings.origin).host;
  if (target?.kind !== 'handle' || target.account.includes('/') || target.host === own) {
    throw invalid('own_handle', 'Enter your own handle on another server, such as name@social.example.org.', {
      field: 'handle',
    });
  }
  const { host, account } = target;
  const scheme = deps.settings.devAllowInsecure ? new URL(deps.settings.origin).protocol : 'https:';
  const url = `${scheme}//${host}/.well-known/webfinger?resource=${encodeURIComponent(`acct:${account}`)}`;
  const outbound = await outboundFor(deps, url, host);
  const wait = deps.lookups.take(networkPrefix(address), host);
  if (wait !== null)
    throw rateLimited('too_many_lookups', 'Too many lookups. Try again in a minute.', Math.max(wait, 10));
  const template = await readTemplate(outbound, url, host).catch((error: unknown) => {
    if (!isDomainError(error)) throw error;
    return null;
  });
  const page = template === null ? null : webUrl(template.replaceAll('{uri}', encodeURIComponent(uri)));
  if (page === null || (page.protocol !== 'https:' && !deps.settings.devAllowInsecure)) {
    throw invalid(
      'no_subscribe_page',
      `${host} does not have a follow page. Search for the handle below on that server.`,
      { field: 'handle' },
    );
  }
  return { host: page.host, url: page.href };
}

async function outboundFor({ outbound, unlisted }: FederationDeps, url: string, host: string): Promise<Outbound> {
  for (const each of [outbound, unlisted?.outbound]) {
    if (each === undefined) continue;
    try {
      await each.checkUrl(url);
      return each;
    } catch (error) {
      if (!isDomainError(error)) throw error;
    }
  }
  throw invalid('host_unknown', `This server does not federate with ${host}.`, { field: 'handle' });
}

async function readTemplate(outbound: Outbound, url: string, host: string): Promise<string | null> {
  const headers = { Host: host, Accept: 'application/jrd+json, application/json' };
  const { status, body } = await outbound.send({ method: 'GET', url, headers, maxBytes });
  if (status !== 200) return null;
  const { links } = parseJson(body, url);
  const found = (Array.isArray(links) ? links.slice(0, 100) : []).map(asObject).find(({ rel }) => rel === subscribe);
  const template = found?.['template'];
  return typeof template === 'string' && template.length <= 2_048 && template.includes('{uri}') ? template : null;
}
