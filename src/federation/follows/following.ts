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

/** What a person follows, grouped by followed person, and the newest 50 pushes from there. */
export async function followingOf(room: FederationRoom, userId: string): Promise<Following> {
  const { read } = room.db;
  const [people, follows] = await Promise.all([
    read.find(remotePersonFollowSchema, { where: { userId }, order: { handle: 'ASC' } }),
    read.find(remoteFollowSchema, { where: { userId }, order: { handle: 'ASC' } }),
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
    pushes: await newestPushes(room, follows),
  };
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

async function newestPushes({ db }: FederationRoom, follows: readonly RemoteFollow[]): Promise<ListedPush[]> {
  if (follows.length === 0) return [];
  const byActor = new Map(follows.map((follow) => [follow.remoteActorId, follow]));
  const rows = await db.read
    .createQueryBuilder(receivedPushSchema, 'p')
    // Of each that is followed the newest, which an index has in order: however much one of them has sent.
    .where(
      `p.id IN (SELECT n.id FROM remote_follows f CROSS JOIN received_pushes n WHERE f.user_id = :userId AND n.id IN
         (SELECT x.id FROM received_pushes x WHERE x.actor_id = f.remote_actor_id ORDER BY x.pushed_at DESC LIMIT ${shownPushes}))`,
      { userId: follows[0]!.userId },
    )
    .orderBy('p.pushed_at', 'DESC')
    .addOrderBy('p.received_at', 'DESC')
    .addOrderBy('p.id', 'DESC')
    .take(shownPushes)
    .getMany();
  return rows.flatMap((row) => {
    const follow = byActor.get(row.actorId);
    if (follow === undefined) return [];
    return [{ ...row, commits: JSON.parse(row.commits) as PushedCommit[], handle: follow.handle, url: follow.url }];
  });
}
