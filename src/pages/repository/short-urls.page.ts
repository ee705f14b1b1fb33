import { notFound } from '../../kernel/index.ts';
import { movedTo, sendAgainAt } from '../app/reply.ts';
import { ownerUrl, repositoryUrl } from '../../http/index.ts';
import type { Page, RequestContext } from '../app/request-context.ts';
import { ownPageAt } from './foreign-urls.page.ts';
import type { RepositoryDeps } from './deps.ts';

const withoutGit = (name: string): string => name.replace(/\.git$/i, '');

/**
 * `/{handle}` redirects to the user or the organisation; `/issues` and `/pulls` to lists, unless a user has that name.
 */
export const showOwner: Page<RequestContext, RepositoryDeps> = async ({ params, path }, { owners }) => {
  const handle = params.handle ?? '';
  const owner = (await owners.resolve(handle)) ?? (await owners.resolveFormer(handle));
  if (owner === null) {
    const own = ownPageAt(path);
    if (own !== null) return movedTo(own);
    throw notFound();
  }
  return movedTo(ownerUrl(owner));
};

/** `/{owner}/{name}` and `/{owner}/{name}.git` redirect to the repository, for viewers with read access. */
export const showRepositoryByShortUrl: Page<RequestContext, RepositoryDeps> = async (
  { params, viewer, path },
  { owners, repositories },
) => {
  const own = ownPageAt(path);
  if (own !== null && (await owners.resolve(params.owner ?? '')) === null) return movedTo(own);
  const [owner, name] = [params.owner ?? '', withoutGit(params.name ?? '')];
  const moved = await repositories.findMoved(viewer, owner, name);
  return movedTo(repositoryUrl(moved ?? (await repositories.find(viewer, owner, name)).canonical));
};

/**
 * git requests `info/refs` below any URL, and follows a redirect on that first request: so the URL in the browser's
 * address bar can be cloned. The response makes no lookup, so it reveals nothing about what exists.
 */
export const redirectGit: Page<RequestContext, RepositoryDeps> = ({ params, query }) => {
  const [owner, name] = [params.owner ?? '', withoutGit(params.name ?? '')].map(encodeURIComponent);
  const service = query.get('service');
  return movedTo(
    `/git/${owner}/${name}.git/info/refs${service === null ? '' : `?${new URLSearchParams({ service })}`}`,
  );
};

/** For clients that keep the given URL for their later requests. */
const redirectService =
  (service: 'git-upload-pack' | 'git-receive-pack'): Page<RequestContext, RepositoryDeps> =>
  ({ params }) => {
    const [owner, name] = [params.owner ?? '', withoutGit(params.name ?? '')].map(encodeURIComponent);
    return sendAgainAt(`/git/${owner}/${name}.git/${service}`);
  };

export const redirectUpload = redirectService('git-upload-pack');
export const redirectReceive = redirectService('git-receive-pack');

/** A clone URL opened in a browser redirects to the page. */
export const redirectCloneUrl: Page<RequestContext, RepositoryDeps> = ({ params }) =>
  movedTo(`/${[params.owner ?? '', params.name ?? ''].map(encodeURIComponent).join('/')}`);
