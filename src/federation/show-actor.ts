import { notFound } from '../kernel/index.ts';
import { parseFollowTarget } from './follows/follow-target.ts';
import { resolveTarget } from './follows/resolve-target.ts';
import { requireFederationOn } from './require-federation-on.ts';
import type { PublicDocuments } from './public-documents.ts';
import type { FederationDeps } from './deps.ts';
import type { Document } from './actors/actor-documents.ts';
import { fetchDocument } from './actors/fetch-document.ts';

/**
 * The current document of a local or remote actor, for the administrator. For local actors, shows only what other
 * servers could read. Throws `federation_off`; `unknown_actor`; otherwise as `resolveTarget` and `fetchDocument` do.
 * @param text a handle or a URL, as for a follow
 */
export async function showActor(deps: FederationDeps, publications: PublicDocuments, text: string): Promise<Document> {
  requireFederationOn(deps);
  const target = parseFollowTarget(text);
  const { host, origin } = new URL(deps.settings.origin);
  if (target?.kind === 'handle' && target.host === host)
    return publications.actor(await pathOf(publications, `acct:${target.account}`, origin));
  if (target?.kind === 'url' && new URL(target.url).origin === origin)
    return publications.actor(new URL(target.url).pathname);
  const { id } = await resolveTarget(deps, text);
  return fetchDocument(deps, id);
}

async function pathOf(publications: PublicDocuments, resource: string, origin: string): Promise<string> {
  const { links } = (await publications.webFinger(resource)) as { links: { rel: string; href: string }[] };
  const self = links.find(({ rel }) => rel === 'self');
  if (self === undefined) throw notFound('unknown_actor', 'There is no such actor.');
  return self.href.slice(origin.length);
}
