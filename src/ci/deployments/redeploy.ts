import type { Viewer } from '../../access/index.ts';
import { conflict } from '../../kernel/index.ts';
import type { Found } from '../../repositories/index.ts';
import type { CiDeps } from '../deps.ts';
import { requireLevel } from '../require-level.ts';
import { findRunRow } from '../runs/find-run.ts';
import { rerun } from '../runs/rerun.ts';
import { jobSchema } from '../schema/job-schema.ts';
import { runSchema } from '../schema/run-schema.ts';
import type { RunRow } from '../schema/run-schema.ts';
import { findDeployment } from '../environments/list-deployments.ts';

/**
 * Deploys a commit again: re-runs its job and the jobs that need it in a new attempt, which must pass the rules of the
 * environment again. Throws `repository_not_found` without write access, `deployment_not_found`,
 * `deployment_without_job` if the deployment was created through the API or its run was deleted, and the errors of
 * `rerun`.
 */
export async function redeploy(deps: CiDeps, viewer: Viewer, found: Found, id: number): Promise<RunRow> {
  requireLevel(found, 'write');
  const { runId, jobId } = await findDeployment(deps, found, id);
  const { read } = deps.db;
  const run = runId === null ? null : await read.findOneBy(runSchema, { id: runId });
  const job = run === null || jobId === null ? null : await read.findOneBy(jobSchema, { id: jobId, runId: run.id });
  if (run === null || job === null)
    throw conflict(
      'deployment_without_job',
      'This server has no job for this deployment. Redeploy it from the system that created it.',
    );
  const { attempt } = await findRunRow(deps, found, run.number);
  const present = await read.findOneBy(jobSchema, { runId: run.id, attempt, jobKey: job.jobKey, name: job.name });
  if (present === null)
    throw conflict('deployment_without_job', 'The run for this deployment no longer contains this job.');
  return rerun(deps, viewer, found, run.number, { jobId: present.id });
}
