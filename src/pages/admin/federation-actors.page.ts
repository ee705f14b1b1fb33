import { nullIfNotFound } from '../../kernel/index.ts';
import { page } from '../app/reply.ts';
import { numberedPage } from '../app/numbered-page.view.ts';
import { viewTime } from '../app/times.view.ts';
import type { Page, PersonContext } from '../app/request-context.ts';
import type { AdminDeps } from './deps.ts';

/** The followers of a repository on other servers: `?repository=owner/name`. */
export const showFollowers: Page<PersonContext, AdminDeps> = async ({ query }, { federation, clock }) => {
  const repository = query.get('repository')?.trim() ?? '';
  const [owner = '', name = '', more] = repository.split('/');
  let isKnown = name !== '' && more === undefined;
  const { rows, next, previous } = await numberedPage(
    async (paging) => {
      const found = isKnown ? await federation.listFollowers(owner, name, paging).catch(nullIfNotFound) : null;
      isKnown = found !== null;
      return found ?? [];
    },
    query,
    '/admin/federation/followers',
  );
  return page('admin/federation-followers', {
    repository,
    isKnown,
    followers: rows.map(({ actorId, host, createdAt, goneSince }) => ({
      actorId,
      host,
      since: viewTime(createdAt, clock.now()),
      goneSince: goneSince === null ? null : viewTime(goneSince, clock.now()),
    })),
    next,
    previous,
  });
};

/** The actors of this server with a key; never the private key. */
export const showActors: Page<PersonContext, AdminDeps> = async ({ query }, { federation, clock }) => {
  const { rows, next, previous } = await numberedPage(federation.listKeys, query, '/admin/federation/actors');
  return page('admin/federation-actors', {
    keys: rows.map(({ actorId, keyId, kind, createdAt }) => ({
      actorId,
      keyId,
      kind,
      created: viewTime(createdAt, clock.now()),
    })),
    next,
    previous,
  });
};
