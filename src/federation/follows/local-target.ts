import { parseActorPath } from '../actors/actor-paths.ts';
import type { FederationDeps } from '../deps.ts';
import { parseFollowTarget } from './follow-target.ts';

/** Something of this server that can be followed, by names that may not exist. */
export interface LocalTarget {
  /** Of a user, an organisation or a repository. */
  owner: string;
  /** Of a repository. */
  name: string | null;
}

/**
 * What of this server a text means: `owner/name` or `name` with the own host or without any, an actor id, or the
 * address of a page. `null` for what is elsewhere or nothing.
 * @param baseUrl the address of the pages
 */
export function localTarget(
  { settings }: Pick<FederationDeps, 'settings'>,
  text: string,
  baseUrl: string | null,
): LocalTarget | null {
  const typed = text.trim();
  const [, owner, name] = /^([\w.-]{1,100})(?:\/([\w.-]{1,100}))?$/.exec(typed) ?? [];
  if (owner !== undefined) return { owner, name: name ?? null };
  const origins = [settings.origin, baseUrl ?? ''].flatMap((origin) => URL.parse(origin)?.origin ?? []);
  const target = parseFollowTarget(typed);
  if (target === null) return null;
  if (target.kind === 'handle') {
    if (!origins.some((origin) => new URL(origin).host === target.host)) return null;
    return localTarget({ settings }, target.account.slice(0, target.account.lastIndexOf('@')), null);
  }
  const url = new URL(target.url);
  if (!origins.includes(url.origin)) return null;
  const path = url.pathname.replace(/\/$/, '');
  const address = parseActorPath(path.startsWith('/ap/') ? path : `/ap${path}`);
  switch (address?.kind) {
    case 'repository':
      return { owner: address.owner, name: address.name };
    case 'user':
      return { owner: address.username, name: null };
    case 'organisation':
      return { owner: address.name, name: null };
    default:
      return null;
  }
}
