import { hash } from 'node:crypto';
import { currentLanguage } from '../../translation/index.ts';
import type { WebDeps } from '../../web/index.ts';
import type { AnyContext } from './request-context.ts';

export interface CacheKey {
  key: string;
  /** The bare repository, and the state of its refs: the part of the key that no change of the database shows. */
  repository: string;
  refs: string;
}

/**
 * All that a page of a repository is made of, in one line: the address, who looks and
 * how they like it, the language, the repository's row, what the viewer may do there, its refs and
 * HEAD, and where this server is reached. Objects have no part in it: their ids never
 * mean other bytes.
 * @param unread the viewer's unread notifications, which the head of the page counts
 * @returns null when the page is not cacheable: nothing of a repository, or refs that only git can read
 */
export async function cacheKey(
  request: AnyContext,
  deps: Pick<WebDeps, 'git' | 'ssh'>,
  unread: number,
): Promise<CacheKey | null> {
  const { found, method, path, query, origin, preferences, person, avatarAt, viewer } = request;
  if (found === null || (method !== 'GET' && method !== 'HEAD')) return null;
  const refs = await deps.git.refs.state(found.path);
  if (refs === null) return null;
  const { repository, owner, canonical, level, isOwner, isPinned, stars, issues, watch, forks, releases, packages } =
    found;
  const key = hash(
    'sha256',
    JSON.stringify([
      path,
      query.toString(),
      origin,
      preferences,
      currentLanguage(),
      viewer,
      person && [person.username, person.displayName],
      avatarAt,
      repository,
      owner,
      canonical,
      level,
      isOwner,
      isPinned,
      stars,
      issues,
      forks,
      releases,
      packages,
      watch,
      unread,
      found.path,
      refs,
      deps.ssh(),
    ]),
    'base64',
  );
  return { key, repository: found.path, refs };
}
