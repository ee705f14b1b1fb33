import { EntitySchema } from 'typeorm';
import type { MatrixCombination } from '../workflows/expand-matrix.ts';
import type { Hold, RunStatus } from '../run-status.ts';

/** A row of `ci_jobs`: one matrix job in one attempt of a run. */
export interface JobRow {
  id: number;
  runId: number;
  repositoryId: string;
  attempt: number;
  /** Key of the job in the file. */
  jobKey: string;
  /** Position in the file, then in the matrix. */
  position: number;
  name: string;
  needs: string[];
  /** The matrix combination; null until the matrix is evaluated, which may require other jobs. */
  combination: MatrixCombination | null;
  /** Required labels; null until the job is resolved. */
  runsOn: string[] | null;
  continueOnError: boolean;
  failFast: boolean;
  maxParallel: number | null;
  /** Whether debug logging is on: the log contains the rows of `::debug::`. */
  debug: boolean;
  status: RunStatus;
  hold: Hold | null;
  /** Why it did not run, or was lost. */
  reason: string | null;
  concurrencyGroup: string | null;
  concurrencyState: 'holding' | 'pending' | null;
  /** The task that executes or executed it; a later attempt may refer to a task of an earlier one. */
  taskId: number | null;
  /** Number of runners that took it and were lost. */
  losses: number;
  /** Name of the runner that was lost during the job, which is then retried once. */
  lostRunner: string | null;
  /** Name of the environment; null if it does not deploy. */
  environment: string | null;
  /** Null before it requests the environment, for untrusted code, and once the environment is deleted. */
  environmentId: number | null;
  /** `waiting` for a reviewer or a time; `passed` once it may run, with the secrets of the environment. */
  environmentState: 'waiting' | 'passed' | null;
  /** URL given in the file; null if absent or known only to the runner. */
  environmentUrl: string | null;
  /** When it started to wait, and the earliest time at which it may run. */
  environmentSince: number | null;
  environmentUntil: number | null;
  environmentApproved: boolean;
  /** False with `deployment: false`. */
  makesDeployment: boolean;
  deploymentId: number | null;
  createdAt: number;
  waitingSince: number | null;
  startedAt: number | null;
  finishedAt: number | null;
}

/** State of a job that has not requested an environment. */
export const outsideEnvironments = {
  environment: null,
  environmentId: null,
  environmentState: null,
  environmentUrl: null,
  environmentSince: null,
  environmentUntil: null,
  environmentApproved: false,
  makesDeployment: false,
  deploymentId: null,
} as const;

export const jobSchema = new EntitySchema<JobRow>({
  name: 'ciJob',
  tableName: 'ci_jobs',
  columns: {
    id: { type: 'integer', primary: true, generated: 'increment' },
    runId: { name: 'run_id', type: 'integer' },
    repositoryId: { name: 'repository_id', type: 'text' },
    attempt: { type: 'integer' },
    jobKey: { name: 'job_key', type: 'text' },
    position: { type: 'integer' },
    name: { type: 'text' },
    needs: { type: 'simple-json' },
    combination: { name: 'leg', type: 'simple-json', nullable: true },
    runsOn: { name: 'runs_on', type: 'simple-json', nullable: true },
    continueOnError: { name: 'continue_on_error', type: 'boolean' },
    failFast: { name: 'fail_fast', type: 'boolean' },
    maxParallel: { name: 'max_parallel', type: 'integer', nullable: true },
    debug: { type: 'boolean' },
    status: { type: 'text' },
    hold: { type: 'text', nullable: true },
    reason: { type: 'text', nullable: true },
    concurrencyGroup: { name: 'concurrency_group', type: 'text', nullable: true },
    concurrencyState: { name: 'concurrency_state', type: 'text', nullable: true },
    taskId: { name: 'task_id', type: 'integer', nullable: true },
    losses: { type: 'integer' },
    lostRunner: { name: 'lost_runner', type: 'text', nullable: true },
    environment: { type: 'text', nullable: true },
    environmentId: { name: 'environment_id', type: 'integer', nullable: true },
    environmentState: { name: 'environment_state', type: 'text', nullable: true },
    environmentUrl: { name: 'environment_url', type: 'text', nullable: true },
    environmentSince: { name: 'environment_since', type: 'integer', nullable: true },
    environmentUntil: { name: 'environment_until', type: 'integer', nullable: true },
    environmentApproved: { name: 'environment_approved', type: 'boolean' },
    makesDeployment: { name: 'makes_deployment', type: 'boolean' },
    deploymentId: { name: 'deployment_id', type: 'integer', nullable: true },
    createdAt: { name: 'created_at', type: 'integer' },
    waitingSince: { name: 'waiting_since', type: 'integer', nullable: true },
    startedAt: { name: 'started_at', type: 'integer', nullable: true },
    finishedAt: { name: 'finished_at', type: 'integer', nullable: true },
  },
});
