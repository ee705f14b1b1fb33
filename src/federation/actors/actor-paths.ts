/** Paths of actors below the base URL (SPEC §2.5). */

export const instancePath = '/ap/instance';

/**
 * The name of the instance actor, which other servers look up by WebFinger: the host without its port, since user names
 * contain no colon; `instance` if the host is an IP address.
 */
export function instanceName(origin: string): string {
  const { hostname } = new URL(origin);
  return /^[a-z0-9](?:[a-z0-9.-]*[a-z0-9])?$/.test(hostname) ? hostname : 'instance';
}

export const repositoryPath = (owner: string, name: string): string =>
  `/ap/repos/${encodeURIComponent(owner)}/${encodeURIComponent(name)}`;

export const personPath = (username: string): string => `/ap/users/${encodeURIComponent(username)}`;

export const organisationPath = (name: string): string => `/ap/orgs/${encodeURIComponent(name)}`;

/**
 * `owner--name`, the name of a repository for software whose user names contain no slash; `null` if that is also not a
 * valid name. Handles never contain `--`, so the first one separates.
 */
export function repositoryAlias(owner: string, name: string): string | null {
  const alias = `${owner}--${name}`;
  return /^[a-z0-9_](?:[a-z0-9_.-]*[a-z0-9_])?$/i.test(alias) ? alias : null;
}

/** The owner and name of an alias; `null` if it is not an alias. */
export function readAlias(alias: string): { owner: string; name: string } | null {
  const at = alias.indexOf('--');
  if (at <= 0) return null;
  const [owner, name] = [alias.slice(0, at), alias.slice(at + 2)];
  return repositoryAlias(owner, name) === null || name === '' ? null : { owner, name };
}

/** Whether two paths name the same actor, ignoring case. */
export function isSamePath(path: string, other: string): boolean {
  try {
    return decodeURIComponent(path).toLowerCase() === decodeURIComponent(other).toLowerCase();
  } catch {
    return false;
  }
}

/** A parsed actor path with decoded segments. */
type ActorAddress =
  | { kind: 'repository'; owner: string; name: string }
  | { kind: 'user'; username: string }
  | { kind: 'organisation'; name: string }
  | { kind: 'instance' };

/** Parses `/ap/…`; `null` if it is not an actor path. */
export function parseActorPath(path: string): ActorAddress | null {
  if (path === instancePath) return { kind: 'instance' };
  const [, kind, first, second] = /^\/ap\/(repos|users|orgs)\/([^/?#]+)(?:\/([^/?#]+))?$/.exec(path) ?? [];
  if (kind === undefined || (kind === 'repos') === (second === undefined)) return null;
  try {
    const owner = decodeURIComponent(first!);
    if (kind === 'users') return { kind: 'user', username: owner };
    if (kind === 'orgs') return { kind: 'organisation', name: owner };
    return { kind: 'repository', owner, name: decodeURIComponent(second!) };
  } catch {
    return null;
  }
}
