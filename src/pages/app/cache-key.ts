import { hash } from 'node:crypto';
import { currentLanguage } from '../../translation/index.ts';
import type { WebDeps } from '../../web/index.ts';
import type { AnyContext } from './request-context.ts';

export interface CacheKey {
  key: string;
  /**
   * The bare repository and the state of its refs: the only part of the key that can change without a database change.
   */
  repository: string;
  refs: string;
}

/**
 * Every input of a repository page in one line: the URL, the viewer and their preferences, the language, the
 * repository's row, the viewer's permissions on it, its refs and HEAD, and the addresses of this server. Objects are
 * not part of it: an object id always names the same bytes.
 * @param unread the viewer's unread notifications, which the page header counts
 * @returns null when the page is not cacheable: it belongs to no repository, or only git can read the refs
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
