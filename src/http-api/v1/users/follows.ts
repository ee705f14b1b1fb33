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
        'Not sent yet; waits for a server that does not answer; is tried again; was delivered and has no answer; given up',
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
    handle: z.string().describe('`owner/name@host`, or `name@host`; chosen by the other server, as `url` is'),
    actor: z.string().describe('The address of its actor'),
    url: z.string().nullable().describe('Its page'),
    createdAt: time,
    state: z
      .enum(['PENDING', 'ACCEPTED', 'GONE'])
      .nullable()
      .describe(
        'Of a repository, and of a person without any; `GONE`: its server says that nothing of this name is public any more',
      ),
    acceptedAt: time.nullable(),
    goneAt: time.nullable(),
    request: request.nullable().describe('Of a pending one: the request'),
    through: z.string().nullable().describe('Of a repository: the actor of the followed person with whom it came'),
    repositories: z
      .int()
      .nullable()
      .describe('Of a person who has some: how many of their repositories came with them'),
    scanError: z.string().nullable().describe('Of a person: why looking for new repositories did not work'),
  })
  .meta({ id: 'Follow' });

const followedPush = z
  .strictObject({
    handle: z.string().describe('The followed repository'),
    url: z.string().nullable(),
    branch: z.string(),
    before: z.string().nullable(),
    after: z.string().nullable(),
    isForced: z.boolean(),
    pusher: z.string().nullable().describe('As the other server calls them; null when it does not say'),
    commitCount: z.int().describe('More than `commits` has when the push was long'),
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
    summary: 'List the repositories and people of other servers that the caller follows, the oldest follow first',
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
    summary: 'Follow a repository or a person of another server',
    description:
      'The other server accepts within seconds. With a person come their public repositories; one of software that has none is followed without. What is followed already stays as it is.',
    access: 'account:write',
    cost: 'signature',
    status: 201,
    refuses: [409, 422],
    body: z.strictObject({
      target: z
        .string()
        .min(1)
        .max(512)
        .describe('`owner/name@host`, `name@host`, or the address of its page or actor'),
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
    summary: 'Get a follow of the caller',
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
    summary: 'Stop following; the repositories that came with a person are followed no longer, either',
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
    summary: 'Send the request of a follow that was not accepted again',
    description: 'Of a repository, or of a person without any. An accepted follow stays as it is.',
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
    summary: 'List the newest pushes to the repositories that the caller follows',
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
