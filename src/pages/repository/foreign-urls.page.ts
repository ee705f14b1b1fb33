import { notFound } from '../../kernel/index.ts';
import { reservedHandles } from '../../owners/index.ts';
import { foreignPath } from '../app/foreign-path.ts';
import { movedTo } from '../app/reply.ts';
import type { Page, RequestContext } from '../app/request-context.ts';
import type { RepositoryDeps } from './deps.ts';

/** The repository pages of GitHub and Gitea, by the first segment after `/{owner}/{name}/`. */
export const foreignWords = [
  'actions',
  'activity',
  'archive',
  'blame',
  'blob',
  'branches',
  'commit',
  'commits',
  'compare',
  'issues',
  'labels',
  'milestones',
  'pull',
  'pulls',
  'raw',
  'releases',
  'settings',
  'src',
  'tags',
  'tree',
  'wiki',
] as const;

/**
 * `/{owner}/{name}/issues/7` and similar URLs, which remain in READMEs, chats and package files after a move from
 * another forge: redirects to the page here. It makes no lookup, so existing, private and absent repositories get the
 * same response.
 */
export const redirectForeignUrl: Page<RequestContext, RepositoryDeps> = ({ path, query }) => {
  const [, owner = '', name = '', word = '', ...rest] = path.split('/');
  if (name === '' || reservedHandles.has(owner.toLowerCase())) throw notFound();
  const segments = ['', 'repos', owner, name.replace(/\.git$/i, ''), ...foreignPath(word, rest)];
  return movedTo(segments.join('/') + (query.size === 0 ? '' : `?${query}`));
};

/** User pages in the URLs of GitHub and Gitea. */
const ownPages: Readonly<Record<string, string>> = {
  '/issues': '/dashboard/issues',
  '/pulls': '/dashboard/pulls',
  '/user/login': '/login',
  '/user/settings': '/settings/profile',
};

/** The counterparts of `/issues`, `/pulls`, `/user/login` and `/user/settings`; null for every other path. */
export const ownPageAt = (path: string): string | null => (Object.hasOwn(ownPages, path) ? ownPages[path]! : null);
