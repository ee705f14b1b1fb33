import { listPage, pageLinks } from '../app/list-page.view.ts';
import { viewFlashMessage } from '../app/flash-messages.view.ts';
import { content, page, seeOther } from '../app/reply.ts';
import type { Reply } from '../app/reply.ts';
import { viewRepositoryHeader } from '../app/repository-header.view.ts';
import type { Page, RepositoryContext } from '../app/request-context.ts';
import { writeFeed } from '../code/atom.ts';
import type { ReleasesDeps } from './deps.ts';
import { viewReleases } from './release.view.ts';
import { releasesUrl, releaseUrl, restOf } from './release-urls.ts';

/** Fewer than in other lists, because their notes are rendered. */
const perPage = 10;
const perFeed = 30;

/** `B/releases`: newest first, with their notes and files; drafts only for users with write access. */
export const showReleases: Page<RepositoryContext, ReleasesDeps> = async (context, deps): Promise<Reply> => {
  const { viewer, found, query } = context;
  const at = found.canonical;
  const [{ rows, next, previous }, may, refs] = await Promise.all([
    listPage((paging) => deps.releases.list(viewer, at, { ...paging, limit: perPage }), query),
    deps.releases.rightsIn(viewer, at),
    deps.git.queries.cachedRefs(found.path),
  ]);
  const url = releasesUrl(at);
  return page('releases/releases', {
    repository: viewRepositoryHeader(found),
    releases: await viewReleases(context, deps, await deps.releases.describe(rows)),
    mayWrite: may('write') === null,
    hasCommits: refs.size > 0,
    feed: `${url}.atom`,
    ...pageLinks(url, { next, previous }),
    notice: viewFlashMessage(query),
  });
};

/** `B/releases/tag/{tag}` */
export const showRelease: Page<RepositoryContext, ReleasesDeps> = async (context, deps): Promise<Reply> => {
  const { viewer, found, query } = context;
  const at = found.canonical;
  const release = await deps.releases.find(viewer, at, { tag: restOf(context) });
  const [[view], may] = await Promise.all([
    viewReleases(context, deps, [release]),
    deps.releases.rightsIn(viewer, at),
    deps.notifications.markReleaseSeen(viewer, release.id),
  ]);
  return page('releases/release', {
    repository: viewRepositoryHeader(found),
    release: view,
    mayWrite: may('write') === null,
    notice: viewFlashMessage(query),
  });
};

/** `B/releases/latest`: redirects to the newest release that is neither a draft nor a pre-release. */
export const goToLatest: Page<RepositoryContext, ReleasesDeps> = async ({ viewer, found }, { releases }) => {
  const { tag } = await releases.find(viewer, found.canonical, 'latest');
  return seeOther(releaseUrl(found.canonical, tag));
};

/** `B/releases.atom`: published releases. */
export const showReleaseFeed: Page<RepositoryContext, ReleasesDeps> = async (context, deps): Promise<Reply> => {
  const { viewer, found, origin } = context;
  const at = found.canonical;
  const { rows } = await deps.releases.listByPage(viewer, at, { page: 1, limit: perFeed, isDraft: false });
  const releases = await deps.releases.describe(rows);
  const url = `${origin}${releasesUrl(at)}`;
  const entries = releases.map(({ id, tag, title, body, author, authorName, listedAt }) => ({
    // An id is never reused, but a tag may be released again.
    id: `${url}#${id}`,
    url: `${origin}${releaseUrl(at, tag)}`,
    title: title === '' ? tag : title,
    author: {
      name: author?.username ?? authorName ?? 'ghost',
      uri: author?.username ? `${origin}/users/${author.username}` : null,
    },
    at: listedAt,
    text: body,
  }));
  const updatedAt = Math.max(0, ...entries.map((entry) => entry.at)) || found.repository.createdAt;
  const title = `${at.owner}/${at.name}: releases`;
  return content(
    'application/atom+xml; charset=utf-8',
    writeFeed({ title, self: `${url}.atom`, page: url, updatedAt, entries }),
  );
};
