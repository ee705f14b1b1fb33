import type { JobRow } from '../schema/job-schema.ts';
import type { TaskRow } from '../schema/task-schema.ts';

/** A job that was assigned to a runner. */
export interface Claim {
  task: TaskRow;
  job: JobRow;
}
