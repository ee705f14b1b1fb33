import { In } from 'typeorm';
import type { FederationDeps } from '../deps.ts';
import { followRequestSchema } from '../schema/owner-follower-schema.ts';
import type { SubjectFollower } from '../schema/owner-follower-schema.ts';
import { handleOf, remoteActorSchema } from '../schema/remote-actor-schema.ts';
import { approvesFollowers } from './approvals.ts';
import type { FollowSubject } from './approvals.ts';

/** A follower or requester, from the document of its server; all of its texts are untrusted. */
export interface ShownFollower {
  actorId: string;
  /** `user@host`; the actor id while the document is not cached. */
  handle: string;
  /** Its HTML page; null if unknown. */
  url: string | null;
  host: string;
  since: number;
}

interface SubjectFollowers {
  approves: boolean;
  /** Oldest first; at most a hundred. */
  requests: ShownFollower[];
  /** One page, newest first. */
  followers: ShownFollower[];
  total: number;
}

const shownRequests = 100;

/** Remote followers and requests of a local subject, for users who decide about them. */
export async function listSubjectFollowers(
  deps: FederationDeps,
  { kind, id }: FollowSubject,
  { limit, skip }: { limit: number; skip: number },
): Promise<SubjectFollowers> {
  const { read } = deps.db;
  const [table, column] =
    kind === 'repository' ? ['repository_followers', 'repository_id'] : ['owner_followers', 'subject_id'];
  const [followers, counts, requests, approves] = await Promise.all([
    read.query(
      `SELECT actor_id AS "actorId", host, created_at AS "createdAt" FROM ${table} WHERE ${column} = ?
        ORDER BY created_at DESC, actor_id DESC LIMIT ? OFFSET ?`,
      [id, limit, skip],
    ) as Promise<FollowerRow[]>,
    read.query(`SELECT count(*) AS n FROM ${table} WHERE ${column} = ?`, [id]) as Promise<{ n: number }[]>,
    read.find(followRequestSchema, {
      where: { subjectId: id },
      order: { createdAt: 'ASC', actorId: 'ASC' },
      take: shownRequests,
    }),
    approvesFollowers(read, id),
  ]);
  const named = await describe(deps, [...followers, ...requests]);
  return {
    approves,
    requests: requests.map(named),
    followers: followers.map(named),
    total: Number(counts[0]?.n ?? 0),
  };
}

type FollowerRow = Pick<SubjectFollower, 'actorId' | 'host' | 'createdAt'>;

async function describe({ db }: FederationDeps, rows: readonly FollowerRow[]) {
  const ids = [...new Set(rows.map(({ actorId }) => actorId))];
  const known = new Map((await db.read.findBy(remoteActorSchema, { id: In(ids) })).map((actor) => [actor.id, actor]));
  return ({ actorId, host, createdAt }: FollowerRow): ShownFollower => {
    const actor = known.get(actorId);
    const handle = actor === undefined ? actorId : handleOf(actor);
    return { actorId, handle, url: actor?.url ?? null, host, since: Number(createdAt) };
  };
}
