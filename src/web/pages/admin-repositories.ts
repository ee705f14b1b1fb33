import { page } from '../answers/reply.ts';
import { viewCount, viewSize } from '../views/sizes.ts';
import { viewTime } from '../views/times.ts';
import type { Page, PersonVisit } from '../visit.ts';

const shown = 200;

/** What takes the room, largest first. */
export const showAdminRepositories: Page<PersonVisit> = async (_visit, { repositories, clock }) => {
  const all = (await repositories.listAll()).sort((a, b) => b.sizeBytes - a.sizeBytes);
  return page('admin/repositories', {
    count: viewCount(all.length, 'repository', 'repositories'),
    total: viewSize(all.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0)),
    repositories: all.slice(0, shown).map(({ owner, name, visibility, sizeBytes, pushedAt }) => ({
      name: `${owner.handle}/${name}`,
      isPrivate: visibility === 'PRIVATE',
      size: viewSize(sizeBytes),
      pushed: pushedAt === null ? null : viewTime(pushedAt, clock.now()),
    })),
  });
};
