import { localAdministrator } from '../../access/index.ts';
import type { Owner } from '../../owners/index.ts';
import { page } from '../app/reply.ts';
import { listPage, pageLinks, readFilter } from '../app/list-page.view.ts';
import { viewFlashMessage } from '../app/flash-messages.view.ts';
import { viewCount, viewSize } from '../app/format-numbers.ts';
import { viewTime } from '../app/times.view.ts';
import type { Page, PersonContext } from '../app/request-context.ts';
import type { AdminDeps } from './deps.ts';
import { adminRepositoryUrl } from './repository.page.ts';

const here = '/admin/repositories';

/**
 * Parses `name`, `owner/` and `owner/name`: a prefix of the name, and the owner. An unknown owner has no repositories.
 */
async function readWanted(
  filter: string,
  { owners }: Pick<AdminDeps, 'owners'>,
): Promise<{ prefix: string; owner?: Owner } | null> {
  const [, handle, prefix = ''] = /^(?:([^/]*)\/)?(.*)$/.exec(filter) ?? [];
  if (handle === undefined) return { prefix };
  const owner = await owners.resolve(handle);
  return owner === null ? null : { prefix, owner };
}

/** Repositories by size, largest first; with a filter, by name. Query: `q`, `after`, `before`. */
export const showAdminRepositories: Page<PersonContext, AdminDeps> = async ({ query }, deps) => {
  const { repositories, clock } = deps;
  const filter = readFilter(query);
  const wanted = await readWanted(filter, deps);
  const sort = wanted === null || wanted.prefix === '' ? 'size' : 'name';
  const [found, counts] = await Promise.all([
    wanted === null
      ? { repositories: [], next: null, previous: null }
      : listPage((paging) => repositories.list(localAdministrator, { sort, ...wanted, ...paging }), query),
    repositories.countAll(),
  ]);
  return page('admin/repositories', {
    count: viewCount(counts.count, 'repository'),
    total: viewSize(counts.bytes),
    filter,
    repositories: found.repositories.map(({ owner, name, visibility, archivedAt, sizeBytes, pushedAt }) => ({
      name: `${owner.handle}/${name}`,
      manage: adminRepositoryUrl({ owner: owner.handle, name }),
      isArchived: archivedAt !== null,
      isPrivate: visibility === 'PRIVATE',
      size: viewSize(sizeBytes),
      pushed: pushedAt === null ? null : viewTime(pushedAt, clock.now()),
    })),
    ...pageLinks(here, found, { q: filter }),
    notice: viewFlashMessage(query),
  });
};
