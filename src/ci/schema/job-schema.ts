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
  /** The matrix combination; null until the matrix is known, which may depend on other jobs. */
  combination: MatrixCombination | null;
  /** The required labels; null until the job is resolved. */
  runsOn: string[] | null;
  continueOnError: boolean;
  failFast: boolean;
  maxParallel: number | null;
  /** Runs with debug logging: its log has the rows of `::debug::`. */
  debug: boolean;
  status: RunStatus;
  hold: Hold | null;
  /** Why it did not run, or how it was lost. */
  reason: string | null;
  concurrencyGroup: string | null;
  concurrencyState: 'holding' | 'pending' | null;
  /** The task that runs it or ran it; in a later attempt possibly one of an earlier attempt. */
  taskId: number | null;
  /** How often a runner took it and was lost. */
  losses: number;
  /** Name of the runner that was lost while it had the job, which is then tried once more. */
  lostRunner: string | null;
  /** Name of the environment that it deploys to; null for none. */
  environment: string | null;
  /** Null before it asked to enter, for code that is not trusted, and once the environment is deleted. */
  environmentId: number | null;
  /** `waiting` for a reviewer or for time; `passed` once it may run, with the secrets of the environment. */
  environmentState: 'waiting' | 'passed' | null;
  /** The address that the file gives; null for none, and where only the runner can tell. */
  environmentUrl: string | null;
  /** When it began to wait, and until when it has to. */
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

/** A job that has not asked to enter an environment. */
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
