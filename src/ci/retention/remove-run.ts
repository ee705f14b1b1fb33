import { In } from 'typeorm';
import { viewerForLog } from '../../access/index.ts';
import type { Viewer } from '../../access/index.ts';
import { artifactSchema } from '../schema/artifact-schema.ts';
import { conflict } from '../../kernel/index.ts';
import type { Found } from '../../repositories/index.ts';
import { requireLevel } from '../require-level.ts';
import type { CiDeps } from '../deps.ts';
import { findRunRow } from '../runs/find-run.ts';
import { jobSchema } from '../schema/job-schema.ts';
import { statusCommitOf } from '../runs/job-commit-status.ts';
import { runNotFound } from '../load-run.ts';
import { isFinal } from '../run-status.ts';
import { runNumberSchema, runSchema } from '../schema/run-schema.ts';
import { taskSchema } from '../schema/task-schema.ts';

/**
 * Deletes a run permanently: its jobs, logs, artifacts and commit statuses. Its number is never reused. Throws
 * `repository_not_found`, `run_not_found`, `run_not_ended`.
 */
export async function removeRun(deps: CiDeps, viewer: Viewer, found: Found, number: number): Promise<void> {
  requireLevel(found, 'admin');
  const { id } = await findRunRow(deps, found, number);
  await removeRunRow(deps, id);
  deps.logger.info('ci.run_removed', { run: id, number, repository: found.repository.id, by: viewerForLog(viewer) });
}

/** Deletes an ended run with its data. Its number is never reused. Throws `run_not_found`, `run_not_ended`. */
export async function removeRunRow(deps: CiDeps, id: number): Promise<void> {
  const { taskIds, artifacts } = await deps.db.write(async (tx) => {
    const { manager } = tx;
    const run = await manager.findOneBy(runSchema, { id });
    if (run === null) throw runNotFound();
    const { number } = run;
    if (!isFinal(run.status)) throw conflict('run_not_ended', 'This run has not finished yet.');
    const jobs = await manager.find(jobSchema, { where: { runId: id }, select: { id: true } });
    const tasks = await manager.find(taskSchema, {
      where: { jobId: In(jobs.map((job) => job.id)) },
      select: { id: true },
    });
    const rows = await manager.findBy(artifactSchema, { runId: id });
    const targets = [`runs/${number}`, ...jobs.map((job) => `runs/${number}/jobs/${job.id}`)];
    await deps.repositories.statuses.removeTo(tx, run.repositoryId, statusCommitOf(run), targets);
    const last = Math.max(
      number,
      (await manager.findOneBy(runNumberSchema, { repositoryId: run.repositoryId }))?.last ?? 0,
    );
    await manager.upsert(runNumberSchema, { repositoryId: run.repositoryId, last }, ['repositoryId']);
    await manager.delete(runSchema, { id });
    return { taskIds: tasks.map((task) => task.id), artifacts: rows };
  });
  // The nightly task removes files that a crash leaves here.
  for (const taskId of taskIds) await deps.logs.remove(taskId);
  for (const artifact of artifacts) {
    await deps.artifacts.uploads.abandon(artifact.id);
    await deps.artifacts.remove(artifact.file);
  }
}
