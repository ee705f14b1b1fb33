import { EntitySchema } from 'typeorm';
import type { Tries } from '../../announcements/index.ts';

/** A push, written before git may act on it. */
export interface PushRow {
  id: string;
  repositoryId: string;
  /** `null` once the account is deleted. */
  userId: string | null;
  /** The channel: a git transport, a user without git, or the server itself. */
  via: 'http' | 'ssh' | 'web' | 'api' | 'cli' | 'undo' | 'mirror' | 'sync' | 'merge';
  /** Limits of the credential that pushed, as JSON of `RecordedCredential`; null if no user's credential did. */
  credential: string | null;
  /** Title of the deploy key that pushed; null if none did. */
  deployKey: string | null;
  /** Push options as a JSON array of strings. */
  options: string;
  createdAt: number;
  /** Time when git's result was recorded; a start settles older rows without it. */
  settledAt: number | null;
  /** Time when every listener had recorded it. */
  announcedAt: number | null;
  /** How often its announcement began; written before the first listener runs. */
  attempts: number;
  /** Time when the last announcement began. */
  triedAt: number | null;
  /** The last listener that failed, and its error. */
  lastError: string | null;
  /** Time when it was parked; only a manual retry announces it. */
  parkedAt: number | null;
  /** Number of refs it moved, except for pull request refs; null while unsettled, and in older rows. */
  moved: number | null;
  /** The first moves, as JSON of `FirstMove`s; null where `moved` is. */
  firstMoves: string | null;
  /** The node that received or took over the push; null if a single process uses the database. */
  node: string | null;
}

/** A ref that a push moved: position of the command, full name, the ids before and after. */
export type FirstMove = [position: number, ref: string, oldId: string, newId: string];

/** One ref of a push. Ids are 40 or 64 hex digits, all zero for "no ref". */
interface PushUpdateRow {
  pushId: string;
  position: number;
  ref: string;
  oldId: string;
  newId: string;
  result: 'ok' | 'rejected' | null;
  reason: string | null;
  /** Whether the ref left commits behind; null if not checked. */
  forced: boolean | null;
  /** Time until which the unreachable old tip is preserved; null if it is not. */
  keptUntil: number | null;
}

/** A listener that has recorded a push; written in the same transaction as its effect. */
interface PushAnnouncementRow {
  pushId: string;
  listener: string;
}

/**
 * A listener's attempts for a push; written before it runs, so that an attempt that crashes the server is counted. Rows
 * exist from the second announcement until the push is announced.
 */
interface PushListenerAttemptsRow extends Tries {
  pushId: string;
  listener: string;
  /** Its last error. */
  lastError: string | null;
}

export const pushSchema = new EntitySchema<PushRow>({
  name: 'push',
  tableName: 'pushes',
  columns: {
    id: { type: 'text', primary: true },
    repositoryId: { name: 'repository_id', type: 'text' },
    userId: { name: 'user_id', type: 'text', nullable: true },
    via: { type: 'text' },
    credential: { type: 'text', nullable: true },
    deployKey: { name: 'deploy_key', type: 'text', nullable: true },
    options: { type: 'text' },
    createdAt: { name: 'created_at', type: 'integer' },
    settledAt: { name: 'settled_at', type: 'integer', nullable: true },
    announcedAt: { name: 'announced_at', type: 'integer', nullable: true },
    attempts: { type: 'integer' },
    triedAt: { name: 'tried_at', type: 'integer', nullable: true },
    lastError: { name: 'last_error', type: 'text', nullable: true },
    parkedAt: { name: 'parked_at', type: 'integer', nullable: true },
    moved: { type: 'integer', nullable: true },
    firstMoves: { name: 'first_moves', type: 'text', nullable: true },
    node: { type: 'text', nullable: true },
  },
});

export const pushUpdateSchema = new EntitySchema<PushUpdateRow>({
  name: 'pushUpdate',
  tableName: 'push_updates',
  columns: {
    pushId: { name: 'push_id', type: 'text', primary: true },
    position: { type: 'integer', primary: true },
    ref: { type: 'text' },
    oldId: { name: 'old_id', type: 'text' },
    newId: { name: 'new_id', type: 'text' },
    result: { type: 'text', nullable: true },
    reason: { type: 'text', nullable: true },
    forced: { type: 'boolean', nullable: true },
    keptUntil: { name: 'kept_until', type: 'integer', nullable: true },
  },
});

export const pushAnnouncementSchema = new EntitySchema<PushAnnouncementRow>({
  name: 'pushAnnouncement',
  tableName: 'push_announcements',
  columns: {
    pushId: { name: 'push_id', type: 'text', primary: true },
    listener: { type: 'text', primary: true },
  },
});

export const pushListenerAttemptsSchema = new EntitySchema<PushListenerAttemptsRow>({
  name: 'pushListenerAttempts',
  tableName: 'push_listener_attempts',
  columns: {
    pushId: { name: 'push_id', type: 'text', primary: true },
    listener: { type: 'text', primary: true },
    attempts: { type: 'integer' },
    ends: { type: 'integer' },
    begunAt: { name: 'begun_at', type: 'integer', nullable: true },
    lastError: { name: 'last_error', type: 'text', nullable: true },
  },
});
