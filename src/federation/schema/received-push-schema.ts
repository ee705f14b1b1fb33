import { EntitySchema } from 'typeorm';

/** A push to a followed repository, as sent by its server; all of its texts are untrusted. */
export interface ReceivedPush {
  id: string;
  actorId: string;
  activityId: string;
  /** Without `refs/heads/`. */
  branch: string;
  /** 40 or 64 hex digits; all zero for a new branch; `null` if omitted. */
  hashBefore: string | null;
  hashAfter: string | null;
  /** Number of commits; `commits` lists fewer if the push was long. */
  commitCount: number;
  /** JSON: `PushedCommit[]`, newest first. */
  commits: string;
  /** Whether the old tip is not an ancestor of the new one. */
  isForced: boolean;
  /** Name of the user who pushed, from their server; null if omitted. */
  pusher: string | null;
  /** Time of the push, at most the time of its arrival. */
  pushedAt: number;
  receivedAt: number;
}

/** Limit of stored commits per push (SPEC §8). */
export const maxPushedCommits = 50;

export interface PushedCommit {
  hash: string;
  summary: string;
  /** Its page on the sending server; missing in older rows. */
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
