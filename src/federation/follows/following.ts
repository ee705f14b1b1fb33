import { In } from 'typeorm';
import { deliverySchema } from '../schema/delivery-schema.ts';
import type { DeliveryRow } from '../schema/delivery-schema.ts';
import { healthOf } from '../deliveries/peer-health.ts';
import type { PeerRow } from '../schema/peer-schema.ts';
import type { FederationDeps } from '../deps.ts';
import { activityUuid } from './follow-repository.ts';
import { receivedPushSchema } from '../schema/received-push-schema.ts';
import type { PushedCommit, ReceivedPush } from '../schema/received-push-schema.ts';
import { remoteFollowSchema } from '../schema/remote-follow-schema.ts';
import type { FollowState, RemoteFollow } from '../schema/remote-follow-schema.ts';
import { remotePersonFollowSchema } from '../schema/remote-person-follow-schema.ts';
import type { RemotePersonFollow } from '../schema/remote-person-follow-schema.ts';

/** Pushes that the page lists (SPEC §8). */
const shownPushes = 50;

/** The state of a follow, and the reason for a pending one. */
export type FollowStatus =
  | { state: Extract<FollowState, 'ACCEPTED'>; since: number; goneAt: number | null }
  /** The Follow is sent with the next run of the queue, waits for an unreachable server, or has failed so far. */
  | {
      state: 'PENDING';
      why: 'queued' | 'waiting' | 'retrying';
      attempts: number;
      error: string | null;
      nextAttemptAt: number;
    }
  /** It was delivered, and no Accept has arrived. */
  | { state: 'PENDING'; why: 'unanswered'; deliveredAt: number }
  /** It will not be retried automatically. */
  | { state: 'PENDING'; why: 'failed'; attempts: number; error: string | null };

export interface FollowedRepository extends RemoteFollow {
  status: FollowStatus;
}

export interface FollowedPerson extends RemotePersonFollow {
  /** Followed through this person. */
  repositories: FollowedRepository[];
  /** Number of this person's repositories that are followed, through them or directly. */
  followedCount: number;
}

export interface ListedPush extends Omit<ReceivedPush, 'commits'> {
  commits: PushedCommit[];
  /** The followed repository. */
  handle: string;
  url: string | null;
}

/** All remote follows of one person (SPEC §4.7). */
export interface Following {
  people: FollowedPerson[];
  /** Followed directly, as are people who have none. */
  repositories: FollowedRepository[];
  /** Newest first. */
  pushes: ListedPush[];
}

/**
 * A person's follows, grouped by followed person, and the newest 50 pushes of them.
 * @param part of the repositories, by handle; all by default
 */
export async function followingOf(
  deps: FederationDeps,
  userId: string,
  part: { limit?: number; skip?: number } = {},
): Promise<Following> {
  const { read } = deps.db;
  const [people, follows] = await Promise.all([
    read.find(remotePersonFollowSchema, { where: { userId }, order: { handle: 'ASC' } }),
    read.find(remoteFollowSchema, {
      where: { userId },
      order: { handle: 'ASC', id: 'ASC' },
      ...(part.limit !== undefined && { take: part.limit, skip: part.skip ?? 0 }),
    }),
  ]);
  const [repositories, counts] = await Promise.all([withStatuses(deps, follows), countFollowed(deps, people)]);
  return {
    people: people.map((person) => ({
      ...person,
      repositories: repositories.filter(({ viaUserActorId }) => viaUserActorId === person.remoteActorId),
      followedCount: counts.get(person.id) ?? 0,
    })),
    // A tag outlives its person only by a bug; its follow must stay visible.
    repositories: repositories.filter(
      ({ viaUserActorId }) => !people.some(({ remoteActorId }) => remoteActorId === viaUserActorId),
    ),
    pushes: await newestPushes(deps, userId, shownPushes),
  };
}

/**
 * Number of scanned repositories of each person that are followed now, including direct follows. Keyed by the id of
 * the follow of the person.
 */
async function countFollowed(
  { db }: Pick<FederationDeps, 'db'>,
  people: readonly Pick<RemotePersonFollow, 'id'>[],
): Promise<Map<string, number>> {
  const counts = new Map<string, number>();
  for (let start = 0; start < people.length; start += 500) {
    const ids = people.slice(start, start + 500).map(({ id }) => id);
    const rows: { id: string; followed: number }[] = await db.read.query(
      `SELECT p.id AS id, count(f.id) AS followed FROM remote_user_follows p
         JOIN remote_user_repositories s ON s.user_follow_id = p.id
         JOIN remote_follows f ON f.user_id = p.user_id AND f.remote_actor_id = s.remote_actor_id
        WHERE p.id IN (${ids.map(() => '?').join(', ')}) GROUP BY p.id`,
      ids,
    );
    for (const { id, followed } of rows) counts.set(id, Number(followed));
  }
  return counts;
}

/** The dashboard's summary: the newest pushes, and pending requests. */
export async function followedNews(
  deps: FederationDeps,
  userId: string,
  limit: number,
): Promise<{ pushes: ListedPush[]; pending: FollowedRepository[] }> {
  const [pushes, pending] = await Promise.all([
    newestPushes(deps, userId, limit),
    deps.db.read.findBy(remoteFollowSchema, { userId, state: 'PENDING' }),
  ]);
  pending.sort((a, b) => (a.handle < b.handle ? -1 : 1));
  return { pushes, pending: await withStatuses(deps, pending) };
}

/** Adds the status to follows. */
export async function withStatuses(
  { db, clock }: Pick<FederationDeps, 'db' | 'clock'>,
  follows: readonly RemoteFollow[],
): Promise<FollowedRepository[]> {
  const pending = follows.filter(({ state }) => state === 'PENDING');
  const uuids = pending.map(({ followId }) => activityUuid(followId));
  const health = await healthOf(db.read, [...new Set(pending.map(({ host }) => host))]);
  const deliveries = new Map<string, FollowStatus>();
  for (let start = 0; start < uuids.length; start += 500) {
    const rows = await db.read.find(deliverySchema, {
      where: { outboxId: In(uuids.slice(start, start + 500)) },
      order: { id: 'ASC' },
    });
    // A retry manually adds another row; the last one has the status.
    for (const row of rows) deliveries.set(row.outboxId, statusOfDelivery(row, health.get(row.host), clock.now()));
  }
  return follows.map((follow) => ({
    ...follow,
    status:
      follow.state === 'ACCEPTED'
        ? { state: 'ACCEPTED', since: follow.acceptedAt ?? follow.createdAt, goneAt: follow.goneAt }
        : (deliveries.get(activityUuid(follow.followId)) ?? {
            state: 'PENDING',
            why: 'unanswered',
            deliveredAt: follow.createdAt,
          }),
  }));
}

function statusOfDelivery(row: DeliveryRow, peer: PeerRow | undefined, now: number): FollowStatus {
  const { state, attempts, lastError: error, nextAttemptAt, settledAt } = row;
  if (state === 'DELIVERED') return { state: 'PENDING', why: 'unanswered', deliveredAt: settledAt ?? 0 };
  if (state === 'FAILED') return { state: 'PENDING', why: 'failed', attempts, error };
  if (attempts > 0) return { state: 'PENDING', why: 'retrying', attempts, error, nextAttemptAt };
  // Never attempted, because its server was unreachable for others: it waits for that.
  if (nextAttemptAt > now)
    return { state: 'PENDING', why: 'waiting', attempts, error: peer?.lastError ?? null, nextAttemptAt };
  return { state: 'PENDING', why: 'queued', attempts, error, nextAttemptAt };
}

async function newestPushes({ db }: FederationDeps, userId: string, shown: number): Promise<ListedPush[]> {
  const rows = await db.read
    .createQueryBuilder(receivedPushSchema, 'p')
    // Only those that have sent something lately can be in the list, and of each no more than the length of the list:
    // an index has both in order, however many are followed and however much each has sent.
    .where(
      `p.id IN (SELECT n.id FROM
         (SELECT f.remote_actor_id AS actor_id,
            COALESCE((SELECT max(x.pushed_at) FROM received_pushes x WHERE x.actor_id = f.remote_actor_id), 0) AS newest
          FROM remote_follows f WHERE f.user_id = :userId ORDER BY newest DESC LIMIT ${shown}) lately
         CROSS JOIN received_pushes n WHERE n.id IN
           (SELECT x.id FROM received_pushes x WHERE x.actor_id = lately.actor_id ORDER BY x.pushed_at DESC LIMIT ${shown}))`,
      { userId },
    )
    .orderBy('p.pushed_at', 'DESC')
    .addOrderBy('p.received_at', 'DESC')
    .addOrderBy('p.id', 'DESC')
    .limit(shown)
    .getMany();
  const actors = rows.map(({ actorId }) => actorId);
  const known = await db.read.findBy(remoteFollowSchema, { userId, remoteActorId: In(actors) });
  const byActor = new Map(known.map((follow) => [follow.remoteActorId, follow]));
  return rows.flatMap((row) => {
    const follow = byActor.get(row.actorId);
    if (follow === undefined) return [];
    return [{ ...row, commits: JSON.parse(row.commits) as PushedCommit[], handle: follow.handle, url: follow.url }];
  });
}
