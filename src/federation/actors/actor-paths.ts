/** Where actors live below the base URL (SPEC §2.5). */

export const instancePath = '/ap/instance';

export const repositoryPath = (owner: string, name: string): string =>
  `/ap/repos/${encodeURIComponent(owner)}/${encodeURIComponent(name)}`;

export const personPath = (username: string): string => `/ap/users/${encodeURIComponent(username)}`;

/** An actor path taken apart; the words are decoded. */
export type ActorAddress =
  | { kind: 'repository'; owner: string; name: string }
  | { kind: 'user'; username: string }
  | { kind: 'instance' };

/** Reads `/ap/…`; `null` for anything that is no actor's path. */
export function parseActorPath(path: string): ActorAddress | null {
  if (path === instancePath) return { kind: 'instance' };
  const [, kind, first, second] = /^\/ap\/(repos|users)\/([^/?#]+)(?:\/([^/?#]+))?$/.exec(path) ?? [];
  if (kind === undefined || (kind === 'repos') === (second === undefined)) return null;
  try {
    const owner = decodeURIComponent(first!);
    return kind === 'users'
      ? { kind: 'user', username: owner }
      : { kind: 'repository', owner, name: decodeURIComponent(second!) };
  } catch {
    return null;
  }
}
