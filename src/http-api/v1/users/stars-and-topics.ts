import { z } from 'zod';
import type { Viewer } from '../../../access/index.ts';
import type { WebDeps } from '../../../web/index.ts';
import { notFound } from '../../../kernel/index.ts';
import { json, listed, noContent } from '../../responses.ts';
import { operation } from '../../operation.ts';
import { readPage } from '../shapes/issues-parts.ts';
import { giteaUser, numberedPaging } from '../shapes/issues-schemas.ts';
import { olderRepositories } from '../shapes/older-forms.ts';
import { repository } from '../shapes/schemas.ts';
import { showListed } from '../shapes/show-repositories.ts';
import { showUsers } from './user-lists.ts';
import { isoTime } from '../shapes/payloads.ts';

const at = '/repos/{owner}/{name}';
const common = { tag: 'Repositories', cost: 'rows' } as const;
const starredAt = '/user/starred/{owner}/{name}';

interface Place {
  viewer: Viewer;
  deps: WebDeps;
  origin: string;
}
type Query = z.output<z.ZodObject<typeof numberedPaging>>;

async function listStarred({ viewer, deps, origin }: Place, personId: string, query: Query) {
  const { rows, next } = await readPage(query, async (paging) => {
    const page = await deps.repositories.stars.starredBy(viewer, personId, paging);
    return { rows: page.repositories, next: page.next };
  });
  return listed(await showListed(rows, viewer, { origin, deps }), next);
}

const starring = [
  operation({
    ...common,
    id: 'listMyStarred',
    method: 'GET',
    path: '/user/starred',
    summary: 'List the caller’s starred repositories, most recently starred first',
    access: 'token:read',
    status: 200,
    isPaged: true,
    query: z.object(numberedPaging),
    response: z.array(repository),
    older: olderRepositories,
    run: (call) => listStarred(call, call.viewer.id, call.query),
  }),
  operation({
    ...common,
    id: 'listStarredOfUser',
    method: 'GET',
    path: '/users/{username}/starred',
    summary: 'List a user’s starred repositories visible to the caller, most recently starred first',
    access: 'anyone',
    status: 200,
    refuses: [404],
    isPaged: true,
    query: z.object(numberedPaging),
    response: z.array(repository),
    older: olderRepositories,
    run: async (call) =>
      listStarred(call, (await call.deps.accounts.activePerson(call.params.username)).id, call.query),
  }),
  operation({
    ...common,
    id: 'hasStarred',
    method: 'GET',
    path: starredAt,
    summary: 'Check whether the caller has starred a repository',
    access: 'repository:read',
    scope: 'read',
    status: 204,
    refuses: [404],
    async run({ viewer, found, deps }) {
      const id = viewer.kind === 'person' ? viewer.id : '';
      if (!(await deps.repositories.stars.has(id, found.repository.id)))
        throw notFound('not_starred', 'You have not starred this repository.');
      return noContent();
    },
  }),
  operation({
    ...common,
    id: 'starRepository',
    method: 'PUT',
    path: starredAt,
    summary: 'Star a repository',
    access: 'repository:read',
    scope: 'write',
    status: 204,
    async run({ viewer, found, deps }) {
      await deps.repositories.stars.add(viewer, found.canonical.owner, found.canonical.name);
      return noContent();
    },
  }),
  operation({
    ...common,
    id: 'unstarRepository',
    method: 'DELETE',
    path: starredAt,
    summary: 'Unstar a repository',
    access: 'repository:read',
    scope: 'write',
    status: 204,
    async run({ viewer, found, deps }) {
      await deps.repositories.stars.remove(viewer, found.canonical.owner, found.canonical.name);
      return noContent();
    },
  }),
  operation({
    ...common,
    id: 'listStargazers',
    method: 'GET',
    path: `${at}/stargazers`,
    summary: 'List the users who starred a repository, earliest first',
    access: 'repository:read',
    status: 200,
    isPaged: true,
    query: z.object(numberedPaging),
    response: z.array(giteaUser),
    async run({ viewer, found, query, deps, origin }) {
      const { rows, next } = await readPage(query, (paging) =>
        deps.repositories.stars.stargazers(found.repository.id, paging),
      );
      const people = await deps.accounts.peopleById(rows.map(({ userId }) => userId));
      const shown = rows.flatMap(({ userId }) => people.get(userId) ?? []);
      const total = (await deps.repositories.stars.countsOf([found.repository.id])).get(found.repository.id) ?? 0;
      return listed(await showUsers(deps, shown, viewer, origin), next, total);
    },
  }),
];

const topicNames = z.strictObject({ topics: z.array(z.string()) }).meta({ id: 'TopicName' });
const topicAt = `${at}/topics/{topic}` as const;

const topics = [
  operation({
    ...common,
    id: 'listTopics',
    method: 'GET',
    path: `${at}/topics`,
    summary: 'List a repository’s topics',
    access: 'repository:read',
    status: 200,
    query: z.object({
      page: z.int().min(1).max(10_000).default(1),
      limit: z.int().min(1).max(100).default(30),
    }),
    response: topicNames,
    async run({ found, query: { page, limit }, deps }) {
      const { id } = found.repository;
      const all = (await deps.repositories.topics.of([id])).get(id) ?? [];
      return json({ topics: all.slice((page - 1) * limit, page * limit) });
    },
  }),
  operation({
    ...common,
    id: 'setTopics',
    method: 'PUT',
    path: `${at}/topics`,
    summary: 'Replace a repository’s topics',
    access: 'repository:admin',
    status: 204,
    body: z.object({ topics: z.array(z.string().max(100)).max(100) }),
    async run({ viewer, found: { canonical }, body, deps }) {
      await deps.repositories.topics.set(viewer, canonical.owner, canonical.name, body.topics);
      return noContent();
    },
  }),
  operation({
    ...common,
    id: 'addTopic',
    method: 'PUT',
    path: topicAt,
    summary: 'Add a topic to a repository',
    access: 'repository:admin',
    status: 204,
    refuses: [409, 422],
    async run({ viewer, found: { canonical }, params, deps }) {
      await deps.repositories.topics.add(viewer, canonical.owner, canonical.name, params.topic);
      return noContent();
    },
  }),
  operation({
    ...common,
    id: 'removeTopic',
    method: 'DELETE',
    path: topicAt,
    summary: 'Remove a topic from a repository',
    access: 'repository:admin',
    status: 204,
    refuses: [422],
    async run({ viewer, found: { canonical }, params, deps }) {
      await deps.repositories.topics.remove(viewer, canonical.owner, canonical.name, params.topic);
      return noContent();
    },
  }),
  operation({
    ...common,
    id: 'searchTopics',
    method: 'GET',
    path: '/topics/search',
    summary: 'Search the topics of repositories visible to the caller, most used first',
    access: 'anyone',
    cost: 'search',
    status: 200,
    query: z.object({
      q: z.string().max(100).optional(),
      page: z.int().min(1).max(100).default(1),
      limit: z.int().min(1).max(100).default(30),
    }),
    response: z
      .strictObject({
        topics: z.array(
          z.strictObject({
            id: z.int(),
            topic_name: z.string(),
            repo_count: z.int().describe('Number counted so far'),
            created: z.iso.datetime(),
            updated: z.iso.datetime(),
          }),
        ),
      })
      .meta({ id: 'TopicListResponse' }),
    async run({ viewer, query: { q = '', page, limit }, deps }) {
      const found = await deps.repositories.topics.search(viewer, q, page * limit);
      return json({
        topics: found.slice((page - 1) * limit).map(({ topic, repositories }) => ({
          id: 0,
          topic_name: topic,
          repo_count: repositories,
          created: isoTime(0),
          updated: isoTime(0),
        })),
      });
    },
  }),
];

const following = [
  ...(['followers', 'following'] as const).flatMap((side) => {
    const list = async ({ viewer, deps, origin }: Place, personId: string, query: Query) => {
      const { rows, next } = await readPage(query, async (paging) => {
        const page = await deps.accounts.following.list(personId, side, paging);
        return { rows: page.people, next: page.next };
      });
      const counts = await deps.accounts.following.countsOf(personId);
      return listed(await showUsers(deps, rows, viewer, origin), next, counts[side]);
    };
    return [
      operation({
        ...common,
        tag: 'Users',
        id: side === 'followers' ? 'listMyFollowers' : 'listMyFollowing',
        method: 'GET',
        path: `/user/${side}` as '/user/followers',
        summary: `List the users ${side === 'followers' ? 'who follow the caller' : 'followed by the caller'}`,
        access: 'token:read',
        status: 200,
        isPaged: true,
        query: z.object(numberedPaging),
        response: z.array(giteaUser),
        run: (call) => list(call, call.viewer.id, call.query),
      }),
      operation({
        ...common,
        tag: 'Users',
        id: side === 'followers' ? 'listFollowersOfUser' : 'listFollowingOfUser',
        method: 'GET',
        path: `/users/{username}/${side}` as '/users/{username}/followers',
        summary: `List the users ${side === 'followers' ? 'who follow a user' : 'followed by a user'}`,
        access: 'anyone',
        status: 200,
        refuses: [404],
        isPaged: true,
        query: z.object(numberedPaging),
        response: z.array(giteaUser),
        run: async (call) => list(call, (await call.deps.accounts.activePerson(call.params.username)).id, call.query),
      }),
    ];
  }),
  operation({
    ...common,
    tag: 'Users',
    id: 'isFollowing',
    method: 'GET',
    path: '/user/following/{username}',
    summary: 'Check whether the caller follows a user',
    access: 'token:read',
    status: 204,
    refuses: [404],
    async run({ viewer, params, deps }) {
      const { id } = await deps.accounts.activePerson(params.username);
      if (!(await deps.accounts.following.has(viewer.id, id)))
        throw notFound('not_following', 'You do not follow them.');
      return noContent();
    },
  }),
  operation({
    ...common,
    tag: 'Users',
    id: 'followUser',
    method: 'PUT',
    path: '/user/following/{username}',
    summary: 'Follow a user on this server',
    access: 'account:write',
    status: 204,
    refuses: [404, 409, 422],
    async run({ viewer, params, deps }) {
      await deps.accounts.following.follow(viewer.id, (await deps.accounts.activePerson(params.username)).id);
      return noContent();
    },
  }),
  operation({
    ...common,
    tag: 'Users',
    id: 'unfollowUser',
    method: 'DELETE',
    path: '/user/following/{username}',
    summary: 'Stop following a user',
    access: 'account:write',
    status: 204,
    refuses: [404],
    async run({ viewer, params, deps }) {
      await deps.accounts.following.unfollow(viewer.id, (await deps.accounts.personByUsername(params.username)).id);
      return noContent();
    },
  }),
  operation({
    ...common,
    tag: 'Users',
    id: 'isUserFollowing',
    method: 'GET',
    path: '/users/{username}/following/{target}',
    summary: 'Check whether a user follows another user',
    access: 'anyone',
    status: 204,
    refuses: [404],
    async run({ params, deps }) {
      const [one, other] = await Promise.all([
        deps.accounts.activePerson(params.username),
        deps.accounts.activePerson(params.target),
      ]);
      if (!(await deps.accounts.following.has(one.id, other.id)))
        throw notFound('not_following', 'The user does not follow this account.');
      return noContent();
    },
  }),
];

export const starTopicAndFollowOperations = [...starring, ...topics, ...following];
