import { EntitySchema } from 'typeorm';

/** A row of `tracked_times`: time that a user spent on an issue. */
export interface TrackedTimeRow {
  id: number;
  issueId: string;
  /** Repository of the issue; updated when it moves. */
  repositoryId: string;
  /** Null once the account is deleted. */
  userId: string | null;
  /** Time from another forge: who spent it, as `login@host`; null for time that was added here. */
  userName: string | null;
  /** Time from another forge: its key there. */
  origin: string | null;
  seconds: number;
  /** Milliseconds since the epoch. */
  createdAt: number;
}

export const trackedTimeSchema = new EntitySchema<TrackedTimeRow>({
  name: 'trackedTime',
  tableName: 'tracked_times',
  columns: {
    id: { type: 'integer', primary: true, generated: 'increment' },
    issueId: { name: 'issue_id', type: 'text' },
    repositoryId: { name: 'repository_id', type: 'text' },
    userId: { name: 'user_id', type: 'text', nullable: true },
    userName: { name: 'user_name', type: 'text', nullable: true },
    origin: { type: 'text', nullable: true },
    seconds: { type: 'integer' },
    createdAt: { name: 'created_at', type: 'integer' },
  },
});

/** A row of `stopwatches`: a user's running stopwatch. */
export interface StopwatchRow {
  userId: string;
  issueId: string;
  createdAt: number;
}

export const stopwatchSchema = new EntitySchema<StopwatchRow>({
  name: 'stopwatch',
  tableName: 'stopwatches',
  columns: {
    userId: { name: 'user_id', type: 'text', primary: true },
    issueId: { name: 'issue_id', type: 'text', primary: true },
    createdAt: { name: 'created_at', type: 'integer' },
  },
});
