import type { Tx } from '../../db/index.ts';
import type { CiDeps } from '../deps.ts';
import { addStatus, insertDeployment } from '../environments/deployments.ts';
import type { RunStatus } from '../run-status.ts';
import { deploymentSchema } from '../schema/deployment-schema.ts';
import type { DeploymentState } from '../schema/deployment-schema.ts';
import type { EnvironmentRow } from '../schema/environment-schema.ts';
import type { JobRow } from '../schema/job-schema.ts';
import type { RunRow } from '../schema/run-schema.ts';
import { outputSchema } from '../schema/task-schema.ts';
import { environmentUrlOutput, readEnvironmentUrl } from '../workflows/environment-url.ts';
import { describeJobStatus, statusCommitOf } from './job-commit-status.ts';

const statesOfJobs: Record<RunStatus, DeploymentState> = {
  blocked: 'queued',
  waiting: 'queued',
  running: 'in_progress',
  cancelling: 'in_progress',
  success: 'success',
  failure: 'failure',
  cancelled: 'error',
  skipped: 'inactive',
};

/** Creates the deployment of a job that requests an environment. */
export async function deployJob(
  deps: Pick<CiDeps, 'deploymentListeners'>,
  tx: Tx,
  run: RunRow,
  job: JobRow,
  environment: EnvironmentRow,
): Promise<number> {
  const { id } = await insertDeployment(
    deps,
    tx,
    {
      repositoryId: run.repositoryId,
      environmentId: environment.id,
      environment: environment.name,
      runId: run.id,
      jobId: job.id,
      ref: run.ref,
      sha: statusCommitOf(run),
      task: 'deploy',
      description: '',
      payload: {},
      isTransient: false,
      isProduction: environment.nameFolded === 'production',
      creatorId: run.attemptActorId ?? run.actorId,
      state: 'pending',
    },
    run,
  );
  return id;
}

/** Updates the state of the deployment after its job has changed. */
export async function followJob(
  deps: Pick<CiDeps, 'deploymentListeners'>,
  tx: Tx,
  run: RunRow,
  job: JobRow,
): Promise<void> {
  if (job.deploymentId === null) return;
  const deployment = await tx.manager.findOneBy(deploymentSchema, { id: job.deploymentId });
  if (deployment === null) return;
  if (deployment.jobId !== job.id && job.id !== 0)
    await tx.manager.update(deploymentSchema, { id: deployment.id }, { jobId: job.id });
  const state = job.status === 'blocked' && job.environmentState === 'waiting' ? 'waiting' : statesOfJobs[job.status];
  if (state === deployment.state) return;
  const output =
    state === 'success' && job.taskId !== null
      ? await tx.manager.findOneBy(outputSchema, { taskId: job.taskId, name: environmentUrlOutput })
      : null;
  const url = state === 'success' ? readEnvironmentUrl(output?.value ?? job.environmentUrl) : null;
  await addStatus(deps, tx, deployment, {
    state,
    description: describeJobStatus(job, run),
    url: url ?? deployment.url,
    logUrl: `runs/${run.number}/jobs/${job.id}`,
    creatorId: null,
    run,
  });
}
