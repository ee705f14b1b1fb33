import { z } from 'zod';
import type { Viewer } from '../../../access/index.ts';
import { numericId } from '../../../gitea-shapes/index.ts';
import { readSearchQuery } from '../../../http/index.ts';
import type { WebDeps } from '../../../web/index.ts';
import { isDomainError, notFound } from '../../../kernel/index.ts';
import type { ListedRepository, ListOptions } from '../../../repositories/index.ts';
import { json } from '../../responses.ts';
import { operation } from '../../operation.ts';
import { rowsOf } from '../shapes/issues-parts.ts';
import { numberedPaging } from '../shapes/issues-schemas.ts';
import { olderRepositories, olderRepository } from '../shapes/older-forms.ts';
import { repository } from '../shapes/schemas.ts';
import { listIn } from '../shapes/repository-pages.ts';
import { showListed } from '../shapes/show-repositories.ts';

/** Lists of repositories at Gitea's URLs. */
const common = { method: 'GET', tag: 'Repositories', cost: 'rows', status: 200 } as const;

/** Throws `no_such_owner_here`. */
async function ownerNamed(deps: WebDeps, name: string, kind: 'user' | 'organisation') {
  const owner = await deps.owners.resolve(name);
  if (owner?.kind !== kind) throw notFound('no_such_owner_here', 'There is no owner with this handle.');
  return owner;
}

const listMine = operation({
  ...common,
  id: 'listMyRepositories',
  path: '/user/repos',
  summary: 'List the caller’s repositories: owned, shared, and those of organisations and teams',
  access: 'token:read',
  isPaged: true,
  query: z.object(numberedPaging),
  response: z.array(repository),
  older: olderRepositories,
  run: ({ query, ...call }) => listIn(call, query, { isGranted: true, sort: 'name' }),
});

const listOfUser = operation({
  ...common,
  id: 'listRepositoriesOfUser',
  path: '/users/{username}/repos',
  summary: 'List a user’s repositories visible to the caller, by name',
  access: 'anyone',
  isPaged: true,
  refuses: [404],
  query: z.object(numberedPaging),
  response: z.array(repository),
  older: olderRepositories,
  run: async ({ query, params, ...call }) =>
    listIn(call, query, { owner: await ownerNamed(call.deps, params.username, 'user'), sort: 'name' }),
});

const listOfOrganisation = operation({
  ...common,
  id: 'listRepositoriesOfOrganisation',
  path: '/orgs/{org}/repos',
  summary: 'List an organisation’s repositories visible to the caller, by name',
  access: 'anyone',
  isPaged: true,
  refuses: [404],
  query: z.object(numberedPaging),
  response: z.array(repository),
  older: olderRepositories,
  run: async ({ query, params, ...call }) =>
    listIn(call, query, { owner: await ownerNamed(call.deps, params.org, 'organisation'), sort: 'name' }),
});

/** By the first digits of the UUID: if several share them, which is improbable, the first one. */
const getById = operation({
  ...common,
  id: 'getRepositoryById',
  path: '/repositories/{id}',
  summary: 'Get a repository by ID',
  access: 'anyone',
  refuses: [404],
  response: repository,
  older: olderRepository,
  async run({ viewer, params, deps, origin }) {
    const found = /^\d{1,15}$/.test(params.id) ? await deps.repositories.byNumber(viewer, Number(params.id)) : null;
    if (found === null) throw notFound('repository_not_found', 'Repository not found');
    const [shown] = await showListed([found], viewer, { origin, deps });
    return json(shown!);
  },
});

const searchOrders = { alpha: 'name', created: 'created', updated: 'updated', size: 'size', id: 'created' } as const;

const searchRepositories = operation({
  ...common,
  id: 'searchRepositories',
  path: '/repos/search',
  summary: 'Search the repositories visible to the caller',
  description:
    'Searches for `q` in owner, name and description like `/search`; without `q`, lists all repositories. The supported ' +
    'Gitea filters are `uid`, `private`, `archived`, `is_private`, `template` and `mode`.',
  access: 'anyone',
  cost: 'search',
  isPaged: true,
  query: z.object({
    q: z.string().max(500).optional(),
    topic: z.boolean().optional().describe('Whether `q` is a topic'),
    includeDesc: z.boolean().optional().describe('Has no effect: descriptions are always searched'),
    uid: z.int().min(0).default(0).describe('Only repositories of this owner'),
    private: z.boolean().default(true).describe('Whether to include private repositories'),
    is_private: z.boolean().optional().describe('Only private (true) or only public (false) repositories'),
    archived: z.boolean().optional().describe('Only archived (true) or only active (false) repositories'),
    template: z.boolean().optional().describe('Only templates (true) or only other repositories (false)'),
    mode: z.enum(['fork', 'source', 'mirror', 'collaborative']).optional(),
    sort: z.enum(['alpha', 'created', 'updated', 'size', 'id']).default('alpha'),
    order: z.enum(['asc', 'desc']).optional().describe('Has no effect: every order has a fixed direction'),
    ...numberedPaging,
  }),
  response: z.strictObject({ ok: z.literal(true), data: z.array(repository) }).meta({ id: 'RepositorySearchResult' }),
  older: ({ ok, data }) => ({ ok, data: olderRepositories(data) }),
  async run({ viewer, query, deps, origin }) {
    const fits = (row: ListedRepository): boolean =>
      (query.uid === 0 || numericId(row.owner.id) === query.uid) &&
      (query.private || row.visibility === 'PUBLIC') &&
      (query.is_private === undefined || (row.visibility === 'PRIVATE') === query.is_private) &&
      (query.archived === undefined || (row.archivedAt !== null) === query.archived) &&
      (query.template === undefined || row.isTemplate === query.template) &&
      (query.mode === undefined ||
        (query.mode === 'fork' ? row.forkedFromId !== null : query.mode !== 'source' || row.forkedFromId === null));
    const from = (Math.max(query.page, 1) - 1) * rowsOf(query);
    const wanted = from + rowsOf(query);
    const rows = (
      query.q === undefined || query.q.trim() === ''
        ? await firstListed(deps, viewer, searchOrders[query.sort], wanted, fits)
        : (await firstFound(deps, viewer, query.q, query.topic === true)).filter(fits)
    ).slice(from, wanted);
    return json({ ok: true as const, data: await showListed(rows, viewer, { origin, deps }) });
  },
});

/** Limit of rows of a list that are searched for matches. */
const mostLooked = 1_000;

async function firstListed(
  { repositories }: WebDeps,
  viewer: Viewer,
  sort: NonNullable<ListOptions['sort']>,
  wanted: number,
  fits: (row: ListedRepository) => boolean,
): Promise<ListedRepository[]> {
  const found: ListedRepository[] = [];
  let after: string | null = null;
  for (let looked = 0; looked < mostLooked && found.length < wanted; looked += 100) {
    const page = await repositories.list(viewer, { sort, after, limit: 100 });
    found.push(...page.repositories.filter(fits));
    after = page.next;
    if (after === null) break;
  }
  return found;
}

interface SearchResult {
  repositories: { owner: string; name: string }[];
  persons: { username: string }[];
}

/** Results of this server's search, in its JSON. */
export async function findAll(deps: WebDeps, viewer: Viewer, q: string): Promise<SearchResult> {
  const text = readSearchQuery(new URLSearchParams({ q }));
  const bytes = await deps.search.findAll(viewer, text, deps.backgroundPriority.hasRecentRequests());
  await deps.backgroundPriority.turn();
  return JSON.parse(bytes.toString()) as SearchResult;
}

/** By topic and, unless only topics are requested, also by this server's search. */
async function firstFound(deps: WebDeps, viewer: Viewer, q: string, isTopic: boolean): Promise<ListedRepository[]> {
  const ids = await deps.repositories.topics.idsWith(q, mostLooked);
  const withTopic = ids.length === 0 ? [] : await deps.repositories.listByIds(viewer, ids);
  const repositories = isTopic ? [] : (await findAll(deps, viewer, q)).repositories;
  const found = await Promise.all(
    repositories.slice(0, mostLooked).map(({ owner, name }) =>
      deps.repositories.find(viewer, owner, name).then(
        ({ repository, owner }) => ({ ...repository, owner, languages: [] }),
        (error: unknown) => {
          // Deleted since the search.
          if (isDomainError(error) && error.code === 'not_found') return null;
          throw error;
        },
      ),
    ),
  );
  const byId = new Map([...withTopic, ...found.filter((row) => row !== null)].map((row) => [row.id, row]));
  return [...byId.values()].sort((one, other) =>
    `${one.owner.handle}/${one.name}`.localeCompare(`${other.owner.handle}/${other.name}`, 'en'),
  );
}

export const repositoryListOperations = [listMine, listOfUser, listOfOrganisation, getById, searchRepositories];
