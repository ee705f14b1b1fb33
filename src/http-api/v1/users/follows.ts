import { z } from 'zod';
import type { FollowStatus, ListedFollow, ListedPush } from '../../../federation/index.ts';
import { created, json, listed, noContent } from '../../responses.ts';
import { operation } from '../../operation.ts';
import { readPageInTurn } from '../shapes/issues-parts.ts';
import { numberedPaging } from '../shapes/issues-schemas.ts';
import { isoTime, isoTimeOrNull } from '../shapes/payloads.ts';
import { time } from '../shapes/schemas.ts';

const common = { tag: 'Follows' } as const;
const at = '/user/follows';

const request = z
  .strictObject({
    why: z
      .enum(['queued', 'waiting', 'retrying', 'unanswered', 'failed'])
      .describe(
        'In order: not sent yet; waiting for an unresponsive server; retrying; delivered without a response yet; given up',
      ),
    attempts: z.int(),
    error: z.string().nullable(),
    nextAttemptAt: time.nullable(),
  })
  .meta({ id: 'FollowRequest' });

const follow = z
  .strictObject({
    id: z.string(),
    kind: z.enum(['repository', 'person']),
    handle: z.string().describe('`owner/name@host` or `name@host`; like `url`, chosen by the remote server'),
    actor: z.string().describe('URL of its ActivityPub actor'),
    url: z.string().nullable().describe('URL of its page'),
    createdAt: time,
    state: z
      .enum(['PENDING', 'ACCEPTED', 'GONE'])
      .nullable()
      .describe(
        'For a repository, or a user without repositories; `GONE` means that its server no longer has anything public under this name',
      ),
    acceptedAt: time.nullable(),
    goneAt: time.nullable(),
    request: request.nullable().describe('For a pending follow, the request'),
    through: z
      .string()
      .nullable()
      .describe('For a repository, the actor of the followed user through whom it was added'),
    repositories: z.int().nullable().describe('For a user with repositories, how many of them were added'),
    scanError: z.string().nullable().describe('For a user, why the search for new repositories failed'),
  })
  .meta({ id: 'Follow' });

const followedPush = z
  .strictObject({
    handle: z.string().describe('Followed repository'),
    url: z.string().nullable(),
    branch: z.string(),
    before: z.string().nullable(),
    after: z.string().nullable(),
    isForced: z.boolean(),
    pusher: z.string().nullable().describe('Name used by the remote server; null if not provided'),
    commitCount: z.int().describe('Total number of commits; larger than the length of `commits` for long pushes'),
    commits: z.array(z.strictObject({ id: z.string(), summary: z.string(), url: z.string().nullable() })),
    pushedAt: time,
  })
  .meta({ id: 'FollowedPush' });

function showRequest(status: FollowStatus): z.infer<typeof request> | null {
  if (status.state === 'ACCEPTED') return null;
  const { why } = status;
  if (why === 'unanswered') return { why, attempts: 1, error: null, nextAttemptAt: null };
  const { attempts, error } = status;
  return { why, attempts, error, nextAttemptAt: why === 'failed' ? null : isoTime(status.nextAttemptAt) };
}

function showFollow(each: ListedFollow): z.infer<typeof follow> {
  const { id, kind, handle, remoteActorId: actor, url, createdAt } = each;
  const shown = { id, kind, handle, actor, url, createdAt: isoTime(createdAt) };
  const ofRepository = { state: null, acceptedAt: null, goneAt: null, request: null, through: null };
  if (each.status === null)
    return { ...shown, ...ofRepository, repositories: each.repositories, scanError: each.scanError };
  const { status, viaUserActorId: through } = each;
  const isAccepted = status.state === 'ACCEPTED';
  return {
    ...shown,
    state: isAccepted && status.goneAt !== null ? 'GONE' : status.state,
    acceptedAt: isAccepted ? isoTime(status.since) : null,
    goneAt: isoTimeOrNull(isAccepted ? status.goneAt : null),
    request: showRequest(status),
    through,
    repositories: null,
    scanError: null,
  };
}

const showPush = ({ handle, url, branch, ...push }: ListedPush): z.infer<typeof followedPush> => ({
  handle,
  url,
  branch,
  before: push.hashBefore,
  after: push.hashAfter,
  isForced: push.isForced,
  pusher: push.pusher,
  commitCount: push.commitCount,
  commits: push.commits.map(({ hash, summary, url: page }) => ({ id: hash, summary, url: page ?? null })),
  pushedAt: isoTime(push.pushedAt),
});

/** Limit of pushes per response; only the newest ones, as on the page. */
const mostPushes = 50;

export const followOperations = [
  operation({
    ...common,
    id: 'listFollows',
    method: 'GET',
    path: at,
    summary: 'List the repositories and users on other servers that the caller follows, oldest follow first',
    access: 'account:read',
    cost: 'rows',
    status: 200,
    isPaged: true,
    refuses: [422],
    query: z.object(numberedPaging),
    response: z.array(follow),
    async run({ viewer, query, deps }) {
      const { rows, next } = await readPageInTurn(query, (after, limit) =>
        deps.federation.listFollows(viewer.id, { after, limit }),
      );
      return listed(rows.map(showFollow), next);
    },
  }),
  operation({
    ...common,
    id: 'addFollow',
    method: 'POST',
    path: at,
    summary: 'Follow a repository or user on another server',
    description:
      'The remote server accepts within seconds. Following a user also follows their public repositories, if their server’s software has repositories. Existing follows remain unchanged.',
    access: 'account:write',
    cost: 'signature',
    status: 201,
    refuses: [409, 422],
    body: z.strictObject({
      target: z.string().min(1).max(512).describe('`owner/name@host`, `name@host`, or the URL of its page or actor'),
    }),
    response: follow,
    async run({ viewer, body, deps }) {
      const { id } = await deps.federation.follow(viewer.id, body.target);
      return created(showFollow(await deps.federation.findFollow(viewer.id, id)), `${at}/${id}`);
    },
  }),
  operation({
    ...common,
    id: 'getFollow',
    method: 'GET',
    path: `${at}/{id}`,
    summary: 'Get one of the caller’s follows',
    access: 'account:read',
    cost: 'rows',
    status: 200,
    refuses: [404],
    response: follow,
    run: async ({ viewer, params, deps }) => json(showFollow(await deps.federation.findFollow(viewer.id, params.id))),
  }),
  operation({
    ...common,
    id: 'endFollow',
    method: 'DELETE',
    path: `${at}/{id}`,
    summary: 'Stop following; for a user, also stop following the repositories added with them',
    access: 'account:write',
    cost: 'rows',
    status: 204,
    refuses: [404],
    async run({ viewer, params, deps }) {
      await deps.federation.unfollow(viewer.id, params.id);
      return noContent();
    },
  }),
  operation({
    ...common,
    id: 'retryFollow',
    method: 'POST',
    path: `${at}/{id}/retry`,
    summary: 'Resend a follow request that has not been accepted',
    description: 'Applies to repositories and to users without repositories. An accepted follow remains unchanged.',
    access: 'account:write',
    cost: 'rows',
    status: 200,
    refuses: [404],
    response: follow,
    async run({ viewer, params, deps }) {
      await deps.federation.retryFollow(viewer.id, params.id);
      return json(showFollow(await deps.federation.findFollow(viewer.id, params.id)));
    },
  }),
  operation({
    ...common,
    id: 'listFollowedPushes',
    method: 'GET',
    path: '/user/followed-pushes',
    summary: 'List the newest pushes to repositories that the caller follows',
    access: 'account:read',
    cost: 'rows',
    status: 200,
    query: z.object({ limit: z.int().min(1).max(mostPushes).default(mostPushes) }),
    response: z.array(followedPush),
    async run({ viewer, query, deps }) {
      const { pushes } = await deps.federation.followedNews(viewer.id, query.limit);
      return json(pushes.map(showPush));
    },
  }),
] as const;
