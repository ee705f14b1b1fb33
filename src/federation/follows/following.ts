import { In } from 'typeorm';
import { deliverySchema } from '../deliveries/delivery-schema.ts';
import type { FederationRoom } from '../room.ts';
import { receivedPushSchema } from './received-push-schema.ts';
import type { PushedCommit, ReceivedPush } from './received-push-schema.ts';
import { remoteFollowSchema } from './remote-follow-schema.ts';
import type { FollowState, RemoteFollow } from './remote-follow-schema.ts';
import { remotePersonFollowSchema } from './remote-person-follow-schema.ts';
import type { RemotePersonFollow } from './remote-person-follow-schema.ts';

/** Pushes that the page lists (SPEC §8). */
const shownPushes = 50;

/** How a follow stands, and for one that waits: what for. */
export type Standing =
  | { state: Extract<FollowState, 'ACCEPTED'>; since: number }
  /** The Follow is not sent yet, or has not got through so far. */
  | { state: 'PENDING'; why: 'queued' | 'retrying'; attempts: number; error: string | null; nextAttemptAt: number }
  /** It arrived, and no Accept has come. */
  | { state: 'PENDING'; why: 'unanswered'; deliveredAt: number }
  /** It will not be sent again by itself. */
  | { state: 'PENDING'; why: 'failed'; attempts: number; error: string | null };

export interface FollowedRepository extends RemoteFollow {
  standing: Standing;
}

export interface FollowedPerson extends RemotePersonFollow {
  repositories: FollowedRepository[];
}

export interface ListedPush extends Omit<ReceivedPush, 'commits'> {
  commits: PushedCommit[];
  /** The followed repository. */
  handle: string;
  url: string | null;
}

/** Everything that one person follows elsewhere (SPEC §4.7). */
export interface Following {
  people: FollowedPerson[];
  /** Followed for themselves. */
  repositories: FollowedRepository[];
  /** Newest first. */
  pushes: ListedPush[];
}

/**
 * What a person follows, grouped by followed person, and the newest 50 pushes from there.
 * @param part of the repositories, by handle; all of them when left out
 */
export async function followingOf(
  room: FederationRoom,
  userId: string,
  part: { limit?: number; skip?: number } = {},
): Promise<Following> {
  const { read } = room.db;
  const [people, follows] = await Promise.all([
    read.find(remotePersonFollowSchema, { where: { userId }, order: { handle: 'ASC' } }),
    read.find(remoteFollowSchema, {
      where: { userId },
      order: { handle: 'ASC', id: 'ASC' },
      ...(part.limit !== undefined && { take: part.limit, skip: part.skip ?? 0 }),
    }),
  ]);
  const repositories = await withStandings(room, follows);
  return {
    people: people.map((person) => ({
      ...person,
      repositories: repositories.filter(({ viaUserActorId }) => viaUserActorId === person.remoteActorId),
    })),
    // A tag may outlive its person only by a fault; its follow must not become invisible.
    repositories: repositories.filter(
      ({ viaUserActorId }) => !people.some(({ remoteActorId }) => remoteActorId === viaUserActorId),
    ),
    pushes: await newestPushes(room, userId, shownPushes),
  };
}

/** What a dashboard tells of all this: the newest pushes, and the requests that wait for an answer. */
export async function followedNews(
  room: FederationRoom,
  userId: string,
  limit: number,
): Promise<{ pushes: ListedPush[]; pending: FollowedRepository[] }> {
  const [pushes, pending] = await Promise.all([
    newestPushes(room, userId, limit),
    room.db.read.findBy(remoteFollowSchema, { userId, state: 'PENDING' }),
  ]);
  pending.sort((a, b) => (a.handle < b.handle ? -1 : 1));
  return { pushes, pending: await withStandings(room, pending) };
}

/** Adds to follows how they stand. */
export async function withStandings(
  { db }: FederationRoom,
  follows: readonly RemoteFollow[],
): Promise<FollowedRepository[]> {
  const pending = follows.filter(({ state }) => state === 'PENDING');
  const uuids = pending.map(({ followId }) => followId.split('/').at(-1)!);
  const deliveries = new Map<string, Standing>();
  for (let start = 0; start < uuids.length; start += 500) {
    const rows = await db.read.find(deliverySchema, {
      where: { outboxId: In(uuids.slice(start, start + 500)) },
      order: { id: 'ASC' },
    });
    // A retry by hand makes another row; the last one tells how it stands.
    for (const { outboxId, state, attempts, lastError, nextAttemptAt, settledAt } of rows) {
      deliveries.set(
        outboxId,
        {
          PENDING: {
            state: 'PENDING',
            why: attempts === 0 ? 'queued' : 'retrying',
            attempts,
            error: lastError,
            nextAttemptAt,
          } as const,
          DELIVERED: { state: 'PENDING', why: 'unanswered', deliveredAt: settledAt ?? 0 } as const,
          FAILED: { state: 'PENDING', why: 'failed', attempts, error: lastError } as const,
        }[state],
      );
    }
  }
  return follows.map((follow) => ({
    ...follow,
    standing:
      follow.state === 'ACCEPTED'
        ? { state: 'ACCEPTED', since: follow.acceptedAt ?? follow.createdAt }
        : (deliveries.get(follow.followId.split('/').at(-1)!) ?? {
            state: 'PENDING',
            why: 'unanswered',
            deliveredAt: follow.createdAt,
          }),
  }));
}

async function newestPushes({ db }: FederationRoom, userId: string, shown: number): Promise<ListedPush[]> {
  const rows = await db.read
    .createQueryBuilder(receivedPushSchema, 'p')
    // Only those that have sent something lately can be in the list, and of each no more than the list has room for:
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
