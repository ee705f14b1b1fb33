import { z } from 'zod';
import type { Viewer } from '../../../access/index.ts';
import type { FeedEntry, FeedScope } from '../../../federation/index.ts';
import { giteaTime, numericId, userPayload } from '../../../gitea-shapes/index.ts';
import { giteaRepository, giteaUser } from '../../../gitea-shapes/schemas.ts';
import type { WebDeps } from '../../../web/index.ts';
import { notFound } from '../../../kernel/index.ts';
import { listed } from '../../responses.ts';
import { operation } from '../../operation.ts';
import type { AnyCall, Operation } from '../../operation.ts';
import { paging } from '../shapes/schemas.ts';
import { showParts } from '../shapes/show-repositories.ts';

/** Events in repositories, in Gitea's form: pushes, releases, opened and merged entries. */
const activity = z
  .strictObject({
    id: z.int(),
    user_id: z.int().describe('User who did it'),
    op_type: z.enum([
      'commit_repo',
      'push_tag',
      'delete_branch',
      'delete_tag',
      'publish_release',
      'create_issue',
      'create_pull_request',
      'merge_pull_request',
    ]),
    act_user_id: z.int(),
    act_user: giteaUser,
    repo_id: z.int(),
    repo: giteaRepository,
    comment_id: z.literal(0),
    comment: z.null(),
    ref_name: z.string().describe('For a push, its first ref'),
    is_private: z.boolean(),
    content: z
      .string()
      .describe(
        'For a push, JSON with `HeadCommit` and `CompareURL`; for a release, its title; otherwise NUMBER|TITLE',
      ),
    created: z.iso.datetime(),
  })
  .meta({ id: 'Activity' });

type Shown = Pick<z.output<typeof activity>, 'op_type' | 'ref_name' | 'content'>;
type LocalEntry = Exclude<FeedEntry, { kind: `remote-${string}` }>;

const isZero = (oid: string): boolean => /^0+$/.test(oid);

function shownOf(entry: LocalEntry): Shown {
  if (entry.kind === 'release') return { op_type: 'publish_release', ref_name: entry.tag, content: entry.title };
  if (entry.kind !== 'push') {
    const opened = entry.isPull ? 'create_pull_request' : 'create_issue';
    const op_type = entry.kind === 'merged' ? 'merge_pull_request' : opened;
    return { op_type, ref_name: '', content: `${entry.number}|${entry.title}` };
  }
  const { updates, repository } = entry.push;
  const { ref, oldId, newId } = updates[0] ?? { ref: '', oldId: '0', newId: '0' };
  const isTag = ref.startsWith('refs/tags/');
  if (isZero(newId)) return { op_type: isTag ? 'delete_tag' : 'delete_branch', ref_name: ref, content: '' };
  const range = isZero(oldId) ? '' : `${repository.owner.handle}/${repository.name}/compare/${oldId}...${newId}`;
  const content = JSON.stringify({ Commits: [], HeadCommit: { Sha1: newId }, CompareURL: range, Len: 0 });
  return { op_type: isTag ? 'push_tag' : 'commit_repo', ref_name: ref, content };
}

async function showEntries({ viewer, deps, origin }: AnyCall, entries: readonly FeedEntry[]) {
  const local = entries.filter((entry) => entry.kind !== 'remote-push' && entry.kind !== 'remote-event');
  const partsOf = (entry: LocalEntry) =>
    entry.kind === 'push'
      ? { repositoryId: entry.push.repository.id, personId: entry.push.person?.id ?? null }
      : { repositoryId: entry.repository.id, personId: entry.authorId };
  const parts = local.map((entry) => ({ entry, ...partsOf(entry) }));
  const [rows, people] = await Promise.all([
    deps.repositories.listByIds(
      viewer,
      parts.map(({ repositoryId }) => repositoryId),
    ),
    deps.accounts.peopleById(parts.flatMap(({ personId }) => personId ?? [])),
  ]);
  const located = rows.map((row) => ({ repository: row, owner: row.owner }));
  const repositories = await showParts(located, viewer, { origin, deps });
  return parts.flatMap(({ entry, repositoryId, personId }) => {
    const repo = repositories.get(repositoryId);
    if (repo === undefined) return [];
    const user = userPayload(personId === null ? null : (people.get(personId) ?? null), { baseUrl: origin });
    return [
      {
        id: numericId(entry.id),
        user_id: user.id,
        ...shownOf(entry),
        act_user_id: user.id,
        act_user: user,
        repo_id: repo.id,
        repo,
        comment_id: 0 as const,
        comment: null,
        is_private: repo.private,
        created: giteaTime(entry.at),
      },
    ];
  });
}

const dayMs = 86_400_000;

const query = z.object({
  ...paging,
  date: z.iso.date().optional().describe('Date in UTC'),
  'only-performed-by': z.boolean().optional().describe('Only activity by the user who owns the repositories'),
});

/** The scope of a call. Absent and hidden subjects are refused alike. */
type ScopeOf = (call: AnyCall) => Promise<FeedScope>;

interface Feed {
  id: string;
  path: string;
  access: 'repository:read' | 'anyone' | 'token:read';
  whose: string;
  scopeOf: ScopeOf;
}

const serialOf = (text: string): number => (/^\d{1,15}$/.test(text) ? Number(text) : 0);

const feeds: readonly Feed[] = [
  {
    id: 'listRepositoryFeed',
    path: '/repos/{owner}/{name}/activities/feeds',
    access: 'repository:read',
    whose: 'in a repository',
    scopeOf: async ({ found }) => ({ kind: 'repository', id: found!.repository.id }),
  },
  {
    id: 'listUserFeed',
    path: '/users/{username}/activities/feeds',
    access: 'anyone',
    whose: 'in a user’s repositories',
    scopeOf: async ({ deps, params }) => ({
      kind: 'user',
      id: (await deps.accounts.activePerson(params['username'] ?? '')).id,
    }),
  },
  {
    id: 'listOrganisationFeed',
    path: '/orgs/{org}/activities/feeds',
    access: 'anyone',
    whose: 'in an organisation’s repositories',
    scopeOf: async ({ deps, params }) => ({
      kind: 'organisation',
      id: (await deps.organisations.find(params['org'] ?? '')).id,
    }),
  },
  {
    id: 'listTeamFeed',
    path: '/teams/{id}/activities/feeds',
    access: 'token:read',
    whose: 'in a team’s repositories',
    scopeOf: async ({ deps, viewer, params }) => ({ kind: 'team', id: await teamId(deps, viewer, params['id'] ?? '') }),
  },
];

async function teamId({ organisations }: WebDeps, viewer: Viewer, serial: string): Promise<string> {
  if (viewer.kind !== 'person') throw notFound('team_not_found', 'There is no such team.');
  return (await organisations.teams.find(viewer, serialOf(serial))).team.id;
}

export const activityFeedOperations: readonly Operation[] = feeds.map(({ id, path, access, whose, scopeOf }) =>
  operation({
    id,
    method: 'GET',
    path,
    tag: path.startsWith('/repos') ? 'Repositories' : path.startsWith('/users') ? 'Users' : 'Organisations',
    summary: `List the activity ${whose}, newest first`,
    description: 'Covers pushes, published releases, opened issues and pull requests, and merged pull requests.',
    access: access as 'anyone',
    cost: 'rows',
    status: 200,
    refuses: [404],
    isPaged: true,
    query,
    response: z.array(activity),
    async run(given) {
      const call = given as unknown as AnyCall;
      const { date, limit, after, 'only-performed-by': isOwn } = given.query;
      const scope = await scopeOf(call);
      const from = date === undefined ? null : Date.parse(date);
      const { entries, next } = await call.deps.federation.activityIn(call.viewer, scope, {
        actorId: isOwn === true && scope.kind === 'user' ? scope.id : null,
        between: from === null ? null : { from, until: from + dayMs },
        after: after ?? null,
        limit,
      });
      return listed(await showEntries(call, entries), next);
    },
  }),
);
