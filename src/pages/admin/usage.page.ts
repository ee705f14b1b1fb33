import { page } from '../app/reply.ts';
import { viewAvatar } from '../app/avatar.view.ts';
import { viewCount, viewSize } from '../app/format-numbers.ts';
import type { Page, PersonContext } from '../app/request-context.ts';
import type { AdminDeps } from './deps.ts';

/** `/admin/usage`: the owners that use the most bytes, with links to their repositories. */
export const showUsage: Page<PersonContext, AdminDeps> = async (_context, { storage, owners, counts }) => {
  const [usage, { repositories }] = await Promise.all([storage.byOwner(), counts()]);
  const known = await owners.ownersById(usage.map(({ ownerId }) => ownerId));
  return page('admin/usage', {
    count: viewCount(repositories, 'repository'),
    owners: usage.map(({ ownerId, repositories, gitBytes, lfsBytes, releaseBytes }) => {
      const handle = known.get(ownerId)?.handle ?? null;
      return {
        handle,
        avatar: viewAvatar(ownerId),
        url: handle === null ? null : `/admin/repositories?q=${encodeURIComponent(`${handle}/`)}`,
        repositories,
        git: viewSize(gitBytes),
        lfs: viewSize(lfsBytes),
        releases: viewSize(releaseBytes),
        all: viewSize(gitBytes + lfsBytes + releaseBytes),
      };
    }),
  });
};
