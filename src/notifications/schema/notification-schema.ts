import { EntitySchema } from 'typeorm';

/** Why a person is notified, the strongest reason first. */
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
 * What a row is about: `issue:<id>`, `release:<id>`, `run:<repository id>`, the runs of a repository that failed, or
 * `deployment:<repository id>:<number of the run>:<environment>`, which waits for its reviewers.
 */
export type Subject = `issue:${string}` | `release:${string}` | `run:${string}` | `deployment:${string}`;

export const deploymentSubject = (repositoryId: string, run: number, environment: string): Subject =>
  `deployment:${repositoryId}:${run}:${environment}`;

/** A row of `notifications`: what one person has not seen of one subject. Times are epoch milliseconds. */
export interface NotificationRow {
  /** By which clients of the API know it. */
  id: number;
  userId: string;
  subject: Subject;
  repositoryId: string;
  issueId: string | null;
  reason: Reason;
  /** JSON: of a run `RunDetails`, of a release `ReleaseDetails`, of a deployment `DeploymentDetails`. */
  details: string;
  /** Of runs: workflow and ref, so that a success of the same resolves the failure. */
  context: string;
  /** The first unread position; of a row that is read, the one that it was read from. */
  firstPosition: number;
  lastPosition: number;
  /** The last event that the inbox shows; null for a row of the feed alone. */
  listedAt: number | null;
  /** The last event in the feed. */
  fedAt: number | null;
  readAt: number | null;
  doneAt: number | null;
  savedAt: number | null;
  /** When a later run succeeded, or when nothing waited for a reviewer any more. */
  resolvedAt: number | null;
}

/** What a row of a run shows. */
export interface RunDetails {
  number: number;
  workflow: string;
  title: string;
  ref: string;
  sha: string;
}

/** What a row of a deployment shows: its run, and where to. */
export interface DeploymentDetails extends RunDetails {
  environment: string;
}

/** What a row of a release shows. */
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

/** Counts of a person's rows that triggers maintain. */
interface NotificationCounts {
  userId: string;
  /** Of what the person may not see any more, too. */
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

/** A part of an event of which at most `batchSize` people are still to be notified. */
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
