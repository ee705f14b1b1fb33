import { z } from 'zod';
import { notFound } from '../../../kernel/index.ts';
import { watchLevels } from '../../../notifications/index.ts';
import type { Viewer } from '../../../access/index.ts';
import type { WebDeps } from '../../../web/index.ts';
import type { Found } from '../../../repositories/index.ts';
import { json, listed, noContent } from '../../responses.ts';
import { operation } from '../../operation.ts';
import { olderRepositories } from '../shapes/older-forms.ts';
import { readPage, readPageInTurn, signedIn, usersById } from '../shapes/issues-parts.ts';
import { giteaUser, numberedPaging } from '../shapes/issues-schemas.ts';
import { repository } from '../shapes/schemas.ts';
import { isoTimeOrNull } from '../shapes/payloads.ts';
import { showListed } from '../shapes/show-repositories.ts';

const common = { tag: 'Notifications', cost: 'rows' } as const;
const at = '/repos/{owner}/{name}/subscription';

const watchInfo = z
  .strictObject({
    subscribed: z.boolean().describe('Whether all activity is watched'),
    ignored: z.boolean(),
    level: z.enum(watchLevels),
    reason: z.null(),
    created_at: z.string().nullable(),
    url: z.string(),
    repository_url: z.string(),
  })
  .meta({ id: 'WatchInfo' });

async function showWatching(deps: WebDeps, viewer: Viewer, { canonical, repository: { id } }: Found, origin: string) {
  const watching = (await deps.notifications.watchingOf(signedIn(viewer), id))!;
  const url = `${origin}/api/v1/repos/${canonical.owner}/${canonical.name}`;
  return {
    subscribed: watching.level === 'everything',
    ignored: watching.level === 'ignore',
    level: watching.level,
    reason: null,
    created_at: isoTimeOrNull(watching.since),
    url: `${url}/subscription`,
    repository_url: url,
  };
}

async function listWatched(
  { viewer, deps, origin }: { viewer: Viewer; deps: WebDeps; origin: string },
  query: z.output<z.ZodObject<typeof numberedPaging>>,
) {
  const { rows, next } = await readPage(query, (paging) => deps.notifications.listWatches(viewer, paging));
  const watched = rows.filter(({ level }) => level === 'everything');
  const places = await deps.repositories.locate(watched.map(({ repositoryId }) => repositoryId));
  const shown = watched.flatMap(({ repositoryId }) => places.get(repositoryId) ?? []);
  const listedRows = shown.map((place) => ({ ...place.repository, owner: place.owner }));
  return listed(await showListed(listedRows, viewer, { origin, deps }), next);
}

export const watchingOperations = [
  operation({
    ...common,
    id: 'listWatchedOfUser',
    method: 'GET',
    path: '/users/{username}/subscriptions',
    summary: 'List the repositories watched by a user, visible only to that user',
    description: 'Others get an empty list because watched repositories are private.',
    access: 'token:read',
    status: 200,
    refuses: [404],
    isPaged: true,
    query: z.object(numberedPaging),
    response: z.array(repository),
    older: olderRepositories,
    async run({ viewer, params, query, deps, origin }) {
      const { id } = await deps.accounts.activePerson(params.username);
      if (id !== viewer.id) return listed([], null, 0);
      return listWatched({ viewer, deps, origin }, query);
    },
  }),
  operation({
    ...common,
    id: 'getWatching',
    method: 'GET',
    path: at,
    summary: 'Get the caller’s watch level for a repository',
    description: 'Returns 404 if the caller has not chosen a level.',
    access: 'repository:read',
    scope: 'read',
    status: 200,
    refuses: [404],
    response: watchInfo,
    async run({ viewer, found, deps, origin }) {
      const shown = await showWatching(deps, viewer, found, origin);
      if (shown.created_at === null) throw notFound('not_watched', 'You do not watch this repository.');
      return json(shown);
    },
  }),
  operation({
    ...common,
    id: 'watchRepository',
    method: 'PUT',
    path: at,
    summary: 'Watch a repository',
    access: 'repository:read',
    scope: 'write',
    status: 200,
    query: z.object({ level: z.enum(watchLevels).default('everything') }),
    response: watchInfo,
    async run({ viewer, found, query, deps, origin }) {
      await deps.notifications.setWatching(viewer, found.canonical, query.level);
      return json(await showWatching(deps, viewer, found, origin));
    },
  }),
  operation({
    ...common,
    id: 'unwatchRepository',
    method: 'DELETE',
    path: at,
    summary: 'Stop watching a repository and receive only notifications about participation and mentions',
    access: 'repository:read',
    scope: 'write',
    status: 204,
    async run({ viewer, found, deps }) {
      await deps.notifications.setWatching(viewer, found.canonical, null);
      return noContent();
    },
  }),
  operation({
    ...common,
    id: 'listWatchers',
    method: 'GET',
    path: '/repos/{owner}/{name}/subscribers',
    summary: 'List a repository’s watchers',
    description: 'Paginated with `after`.',
    access: 'repository:read',
    scope: 'read',
    status: 200,
    isPaged: true,
    query: z.object(numberedPaging),
    response: z.array(giteaUser),
    async run({ found, query, deps, origin }) {
      const { rows: ids, next } = await readPageInTurn(query, async (after, limit) => {
        const some = await deps.notifications.listWatchers(found.repository.id, {
          after: after ?? '',
          limit: limit + 1,
        });
        return { rows: some.slice(0, limit), next: some.length > limit ? some[limit - 1]! : null };
      });
      const user = await usersById(deps, ids, origin);
      return listed(ids.map(user), next, await deps.notifications.watchersOf(found.repository.id));
    },
  }),
  operation({
    ...common,
    id: 'listWatched',
    method: 'GET',
    path: '/user/subscriptions',
    summary: 'List the repositories that the caller watches',
    access: 'token:read',
    status: 200,
    isPaged: true,
    query: z.object(numberedPaging),
    response: z.array(repository),
    older: olderRepositories,
    run: (call) => listWatched(call, call.query),
  }),
];
