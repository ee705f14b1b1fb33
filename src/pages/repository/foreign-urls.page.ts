import { notFound } from '../../kernel/index.ts';
import { reservedHandles } from '../../owners/index.ts';
import { movedTo } from '../app/reply.ts';
import type { Page, RequestContext } from '../app/request-context.ts';
import type { RepositoryDeps } from './deps.ts';

/** The pages of a repository by the words of GitHub and Gitea: the first segment behind `/{owner}/{name}/`. */
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

/** Gitea says of what kind a ref is, which our addresses find out by themselves. */
const refKinds = new Set(['branch', 'tag', 'commit']);
const withoutKind = ([kind = '', ...rest]: readonly string[]): string[] =>
  refKinds.has(kind) && rest.length > 0 ? rest : [kind, ...rest];

const pullPages: Readonly<Record<string, string[]>> = {
  files: ['changes'],
  changes: ['changes'],
  commits: ['commits'],
};

/** The same page here, as segments of an address; all are escaped as they came. */
function pathOf(word: string, rest: readonly string[]): string[] {
  switch (word) {
    case 'pull':
    case 'pulls':
      return ['pulls', ...rest.slice(0, 1), ...(pullPages[rest[1] ?? ''] ?? [])];
    case 'src':
    case 'tree':
      return ['tree', ...withoutKind(rest)];
    case 'raw':
    case 'blob':
    case 'blame':
    case 'commits':
      return [word, ...withoutKind(rest)];
    case 'actions': {
      const [kind, file = '', page = ''] = rest;
      if (kind === 'workflows' && page === 'badge.svg' && file !== '') return ['runs', 'badge', `${file}.svg`];
      const run = rest[0] === 'runs' && /^[1-9]\d{0,8}$/.test(rest[1] ?? '') ? [rest[1]!] : [];
      return ['runs', ...run];
    }
    default:
      return [word, ...rest];
  }
}

/**
 * `/{owner}/{name}/issues/7` and the like, as READMEs, chats and package files have them after a move from another
 * forge: redirects to the page here. It looks nothing up, so existing, private and absent repositories answer alike.
 */
export const redirectForeignUrl: Page<RequestContext, RepositoryDeps> = ({ path, query }) => {
  const [, owner = '', name = '', word = '', ...rest] = path.split('/');
  if (name === '' || reservedHandles.has(owner.toLowerCase())) throw notFound();
  const segments = ['', 'repos', owner, name.replace(/\.git$/i, ''), ...pathOf(word, rest)];
  return movedTo(segments.join('/') + (query.size === 0 ? '' : `?${query}`));
};

/** Pages of the user by the words of GitHub and Gitea. */
const ownPages: Readonly<Record<string, string>> = {
  '/issues': '/dashboard/issues',
  '/pulls': '/dashboard/pulls',
  '/user/login': '/login',
  '/user/settings': '/settings/profile',
};

/** Where `/issues`, `/pulls`, `/user/login` and `/user/settings` are here; null for every other path. */
export const ownPageAt = (path: string): string | null => (Object.hasOwn(ownPages, path) ? ownPages[path]! : null);
