import { EntitySchema } from 'typeorm';

/** Reasons for a notification, strongest first. */
export const reasons = [
  'mention',
  'review_asked',
  'assigned',
  'author',
  'reply',
  'approved',
  'merged',
  'ci_failed',
  'release',
  'watching',
] as const;
export type Reason = (typeof reasons)[number];

/**
 * Subject of a row: `issue:<id>`, `release:<id>`, `run:<repository id>` for failed runs of a repository, or
 * `deployment:<repository id>:<number of the run>:<environment>`, which waits for its reviewers.
 */
export type Subject = `issue:${string}` | `release:${string}` | `run:${string}` | `deployment:${string}`;

export const deploymentSubject = (repositoryId: string, run: number, environment: string): Subject =>
  `deployment:${repositoryId}:${run}:${environment}`;

/** A row of `notifications`: unread events of one subject for one user. Times are epoch milliseconds. */
export interface NotificationRow {
  /** Id for clients of the API. */
  id: number;
  userId: string;
  subject: Subject;
  repositoryId: string;
  issueId: string | null;
  reason: Reason;
  /** JSON: `RunDetails` of a run, `ReleaseDetails` of a release, `DeploymentDetails` of a deployment. */
  details: string;
  /** For runs: workflow and ref, so that a later success resolves the failure. */
  context: string;
  /** The first unread position; for a read row, the one from which it was read. */
  firstPosition: number;
  lastPosition: number;
  /** The last event that the inbox shows; null for a row that is only in the feed. */
  listedAt: number | null;
  /** The last event in the feed. */
  fedAt: number | null;
  readAt: number | null;
  doneAt: number | null;
  savedAt: number | null;
  /** Time when a later run succeeded, or when no deployment waited for a reviewer any more. */
  resolvedAt: number | null;
}

/** Data of a run that a row shows. */
export interface RunDetails {
  number: number;
  workflow: string;
  title: string;
  ref: string;
  sha: string;
}

/** Data of a deployment that a row shows: its run, and its environment. */
export interface DeploymentDetails extends RunDetails {
  environment: string;
}

/** Data of a release that a row shows. */
export interface ReleaseDetails {
  id: string;
  tag: string;
  title: string;
}

export const notificationSchema = new EntitySchema<NotificationRow>({
  name: 'notification',
  tableName: 'notifications',
  columns: {
    id: { type: 'integer', primary: true, generated: 'increment' },
    userId: { name: 'user_id', type: 'text' },
    subject: { type: 'text' },
    repositoryId: { name: 'repository_id', type: 'text' },
    issueId: { name: 'issue_id', type: 'text', nullable: true },
    reason: { type: 'text' },
    details: { type: 'text' },
    context: { type: 'text' },
    firstPosition: { name: 'first_position', type: 'integer' },
    lastPosition: { name: 'last_position', type: 'integer' },
    listedAt: { name: 'listed_at', type: 'integer', nullable: true },
    fedAt: { name: 'fed_at', type: 'integer', nullable: true },
    readAt: { name: 'read_at', type: 'integer', nullable: true },
    doneAt: { name: 'done_at', type: 'integer', nullable: true },
    savedAt: { name: 'saved_at', type: 'integer', nullable: true },
    resolvedAt: { name: 'resolved_at', type: 'integer', nullable: true },
  },
});

/** Counts of a user's rows, maintained by triggers. */
interface NotificationCounts {
  userId: string;
  /** Includes subjects that the user can no longer see. */
  unread: number;
  stored: number;
}

export const notificationCountsSchema = new EntitySchema<NotificationCounts>({
  name: 'notificationCounts',
  tableName: 'notification_counts',
  columns: {
    userId: { name: 'user_id', type: 'text', primary: true },
    unread: { type: 'integer' },
    stored: { type: 'integer' },
  },
});

/** A part of an event with at most `batchSize` users left to notify. */
export interface BatchRow {
  id: number;
  /** JSON of a `Batch`. */
  payload: string;
  createdAt: number;
  attempts: number;
  nextAt: number;
  lastError: string | null;
}

export const batchSchema = new EntitySchema<BatchRow>({
  name: 'notificationBatch',
  tableName: 'notification_batches',
  columns: {
    id: { type: 'integer', primary: true, generated: 'increment' },
    payload: { type: 'text' },
    createdAt: { name: 'created_at', type: 'integer' },
    attempts: { type: 'integer' },
    nextAt: { name: 'next_at', type: 'integer' },
    lastError: { name: 'last_error', type: 'text', nullable: true },
  },
});
