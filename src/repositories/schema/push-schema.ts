import { EntitySchema } from 'typeorm';
import type { Tries } from '../../announcements/index.ts';

/** One push, written before git may act on it. */
export interface PushRow {
  id: string;
  repositoryId: string;
  /** `null` once the account is deleted. */
  userId: string | null;
  /** How it came: over a transport of git, made by a person without git, or by the server itself. */
  via: 'http' | 'ssh' | 'web' | 'api' | 'cli' | 'undo' | 'mirror' | 'sync' | 'merge';
  /** The limits of the credential that pushed, as JSON of `RecordedCredential`; null for those of no person. */
  credential: string | null;
  /** Title of the deploy key that pushed; null for all others. */
  deployKey: string | null;
  /** Push options as a JSON array of strings. */
  options: string;
  createdAt: number;
  /** When git's result was recorded; older rows without it are settled at start. */
  settledAt: number | null;
  /** When every listener had recorded it. */
  announcedAt: number | null;
  /** How often its announcement was begun; written before the first listener runs. */
  attempts: number;
  /** When the last of them began. */
  triedAt: number | null;
  /** The listener that failed last, and its error. */
  lastError: string | null;
  /** When it was parked; only a person can retry it. */
  parkedAt: number | null;
  /** How many refs it moved, besides those of pull requests; null while unsettled, and in older rows. */
  moved: number | null;
  /** The first of them, as JSON of `FirstMove`s; null where `moved` is. */
  firstMoves: string | null;
  /** The node that received it, or has taken it over; null where one process has the database for itself. */
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
  /** Whether the ref left commits behind; null when this was not checked. */
  forced: boolean | null;
  /** Until when the unreachable old tip is preserved; null when it is not. */
  keptUntil: number | null;
}

/** A listener that has recorded a push; written in the same write as its effect. */
interface PushAnnouncementRow {
  pushId: string;
  listener: string;
}

/**
 * Attempts of a listener for a push; written before it runs, so that one that crashes the server is counted. Rows
 * exist from the second announcement on, until the push is announced.
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
