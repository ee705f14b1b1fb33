import { EntitySchema } from 'typeorm';
import type { FinalStatus } from '../run-status.ts';

export type TaskStatus = 'running' | 'cancelling' | FinalStatus;
export type StepStatus = 'waiting' | 'running' | FinalStatus;

/** A row of `ci_tasks`: a job assigned to a runner. */
export interface TaskRow {
  id: number;
  jobId: number;
  /** Null once the runner is removed. */
  runnerId: number | null;
  runnerName: string;
  /** `x-runner-request-key` of the call that fetched it. */
  requestKey: string | null;
  tokenHash: string;
  status: TaskStatus;
  /** Notices of the server about the task, shown above its log. */
  notices: string[];
  createdAt: number;
  /** First report of the runner, which confirms the task. */
  confirmedAt: number | null;
  /** Time of the last report; written occasionally. */
  reportedAt: number | null;
  startedAt: number | null;
  stoppedAt: number | null;
  /** Number of durable rows of the log; the file may have more. */
  logRows: number;
  logBytes: number;
  /** Number of rows acknowledged but dropped beyond the size limit. */
  logDropped: number;
  /** Number of log rows that were searched for annotations. */
  annotatedRows: number;
  /** When the log was completed; later rows are rejected. */
  sealedAt: number | null;
  /** When the expired log was removed. */
  logRemovedAt: number | null;
}

/** A row of `ci_steps`. */
export interface StepRow {
  taskId: number;
  position: number;
  name: string;
  status: StepStatus;
  startedAt: number | null;
  stoppedAt: number | null;
  /** First row of the step in the task's log. */
  logIndex: number;
  logLength: number;
}

/** A row of `ci_outputs`; the value is null if it was too large. */
export interface OutputRow {
  taskId: number;
  name: string;
  value: string | null;
}

export const taskSchema = new EntitySchema<TaskRow>({
  name: 'ciTask',
  tableName: 'ci_tasks',
  columns: {
    id: { type: 'integer', primary: true, generated: 'increment' },
    jobId: { name: 'job_id', type: 'integer' },
    runnerId: { name: 'runner_id', type: 'integer', nullable: true },
    runnerName: { name: 'runner_name', type: 'text' },
    requestKey: { name: 'request_key', type: 'text', nullable: true },
    tokenHash: { name: 'token_hash', type: 'text' },
    status: { type: 'text' },
    notices: { type: 'simple-json' },
    createdAt: { name: 'created_at', type: 'integer' },
    confirmedAt: { name: 'confirmed_at', type: 'integer', nullable: true },
    reportedAt: { name: 'reported_at', type: 'integer', nullable: true },
    startedAt: { name: 'started_at', type: 'integer', nullable: true },
    stoppedAt: { name: 'stopped_at', type: 'integer', nullable: true },
    logRows: { name: 'log_rows', type: 'integer' },
    logBytes: { name: 'log_bytes', type: 'integer' },
    logDropped: { name: 'log_dropped', type: 'integer' },
    annotatedRows: { name: 'annotated_rows', type: 'integer' },
    sealedAt: { name: 'sealed_at', type: 'integer', nullable: true },
    logRemovedAt: { name: 'log_removed_at', type: 'integer', nullable: true },
  },
});

export const stepSchema = new EntitySchema<StepRow>({
  name: 'ciStep',
  tableName: 'ci_steps',
  columns: {
    taskId: { name: 'task_id', type: 'integer', primary: true },
    position: { type: 'integer', primary: true },
    name: { type: 'text' },
    status: { type: 'text' },
    startedAt: { name: 'started_at', type: 'integer', nullable: true },
    stoppedAt: { name: 'stopped_at', type: 'integer', nullable: true },
    logIndex: { name: 'log_index', type: 'integer' },
    logLength: { name: 'log_length', type: 'integer' },
  },
});

export const outputSchema = new EntitySchema<OutputRow>({
  name: 'ciOutput',
  tableName: 'ci_outputs',
  columns: {
    taskId: { name: 'task_id', type: 'integer', primary: true },
    name: { type: 'text', primary: true },
    value: { type: 'text', nullable: true },
  },
});
