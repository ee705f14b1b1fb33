import { EntitySchema } from 'typeorm';

/** A push to a followed repository, as its server sent it; all its texts are untrusted. */
export interface ReceivedPush {
  id: string;
  actorId: string;
  activityId: string;
  /** Without `refs/heads/`. */
  branch: string;
  /** 40 or 64 hex digits; all zero for a new branch; `null` when it was omitted. */
  hashBefore: string | null;
  hashAfter: string | null;
  /** How many commits it had; more than `commits` lists when it was long. */
  commitCount: number;
  /** JSON: `PushedCommit[]`, newest first. */
  commits: string;
  /** The old tip is not below the new one. */
  isForced: boolean;
  /** Who pushed, as their server calls them; null when it does not say. */
  pusher: string | null;
  /** When it was made, never later than when it arrived. */
  pushedAt: number;
  receivedAt: number;
}

/** Limit of stored commits per push (SPEC §8). */
export const maxPushedCommits = 50;

export interface PushedCommit {
  hash: string;
  summary: string;
  /** Its page on the server that sent it; missing in rows from before. */
  url?: string | null;
}

export const receivedPushSchema = new EntitySchema<ReceivedPush>({
  name: 'receivedPush',
  tableName: 'received_pushes',
  columns: {
    id: { type: 'text', primary: true },
    actorId: { name: 'actor_id', type: 'text' },
    activityId: { name: 'activity_id', type: 'text' },
    branch: { type: 'text' },
    hashBefore: { name: 'hash_before', type: 'text', nullable: true },
    hashAfter: { name: 'hash_after', type: 'text', nullable: true },
    commitCount: { name: 'commit_count', type: 'integer' },
    commits: { type: 'text' },
    isForced: { name: 'is_forced', type: 'boolean' },
    pusher: { type: 'text', nullable: true },
    pushedAt: { name: 'pushed_at', type: 'integer' },
    receivedAt: { name: 'received_at', type: 'integer' },
  },
});
