import type { JobRow } from '../runs/job-schema.ts';
import type { TaskRow } from './task-schema.ts';

/** A job that was handed to a runner. */
export interface Claim {
  task: TaskRow;
  job: JobRow;
}
