import { personIdOf } from '../../access/index.ts';
import type { Viewer } from '../../access/index.ts';
import { conflict } from '../../kernel/index.ts';
import type { Found } from '../../repositories/index.ts';
import { refuseArchived, requireLevel } from '../require-level.ts';
import { requireEnabled } from '../settings/repository-settings.ts';
import type { CiDeps } from '../deps.ts';
import type { Workflow } from '../workflows/workflow.ts';
import { advanceJobs } from './advance-run.ts';
import { changeRuns } from './change-runs.ts';
import { claimConcurrencyGroup } from './claim-concurrency-group.ts';
import { findRunRow } from './find-run.ts';
import { recordRunEvent } from './record-run-event.ts';
import { RunChanges } from './run-changes.ts';
import type { NewJob } from './run-changes.ts';
import { jobSchema, outsideEnvironments } from '../schema/job-schema.ts';
import type { JobRow } from '../schema/job-schema.ts';
import { runNotFound } from '../load-run.ts';
import { runSchema } from '../schema/run-schema.ts';
import type { RunRow } from '../schema/run-schema.ts';
import { isFinal, isRunning } from '../run-status.ts';

/** Jobs to re-run: all, the failed ones, or one; plus all jobs that need them. */
export type RerunChoice = 'all' | 'failed' | { jobId: number };

export interface RerunOptions {
  /** Makes the re-run jobs log their `::debug::` rows, as with the secret `ACTIONS_STEP_DEBUG`. */
  debug?: boolean;
}

const maxAttempts = 50;

/**
 * Starts a new attempt of a run. Other jobs carry over with their results, unfinished ones continue in the new attempt;
 * logs of earlier attempts stay. Re-running all jobs requires that the run has ended. Throws `repository_not_found`,
 * `repository_archived`, `run_not_found`, `run_not_ended`, `too_many_attempts`, `nothing_to_rerun`, `ci_disabled`,
 * `workflow_disabled`, and `run_not_approved` for code that was never approved.
 */
export async function rerun(
  deps: CiDeps,
  viewer: Viewer,
  found: Found,
  number: number,
  choice: RerunChoice,
  { debug = false }: RerunOptions = {},
): Promise<RunRow> {
  requireLevel(found, 'write');
  refuseArchived(found);
  const loaded = await deps.runs.load((await findRunRow(deps, found, number)).id);
  const { parsed, run: row } = loaded;
  await requireEnabled(deps, row.repositoryId, row.workflowPath);
  if (!parsed.ok)
    throw conflict('nothing_to_rerun', 'This run has no jobs because its workflow file could not be read.');
  return changeRuns(deps, async (tx, after) => {
    const before = await RunChanges.open(deps, tx, after, loaded.run.id);
    if (before === null) throw runNotFound();
    if (before.run.approval === 'waiting')
      throw conflict(
        'run_not_approved',
        'This run was never approved. Approve the latest run of the pull request instead.',
      );
    if (choice === 'all' && !isFinal(before.run.status))
      throw conflict('run_not_ended', 'This run has not finished yet.');
    if (before.run.attempt >= maxAttempts)
      throw conflict('too_many_attempts', `A run can have at most ${maxAttempts} attempts.`);
    const again = chosenJobs(parsed.workflow, before.jobs, choice);
    if (again.size === 0) throw conflict('nothing_to_rerun', 'No job in this run has failed.');
    if ([...again].some((job) => job.status === 'waiting' || isRunning(job.status)))
      throw conflict('run_not_ended', 'The jobs to re-run have not finished yet.');

    const run: RunRow = {
      ...before.run,
      attempt: before.run.attempt + 1,
      attemptActorId: personIdOf(viewer),
      isCancelled: false,
      reason: null,
      // Time of this attempt; if the run has not ended, the earlier one continues.
      startedAt: before.run.finishedAt === null ? before.run.startedAt : null,
      finishedAt: null,
    };
    if (run.concurrencyGroup !== null) {
      run.concurrencyState = await claimConcurrencyGroup(deps, tx, after, run, {
        group: run.concurrencyGroup,
        cancelInProgress: false,
        queue: 'max',
      });
    }
    const { id, ...row } = run;
    await tx.manager.update(runSchema, { id }, { ...row, status: 'blocked' } as never);
    await recordRunEvent(tx, run, 'requested');
    const hold = run.concurrencyState === 'pending' ? 'run' : 'needs';
    for (const job of before.jobs) {
      // Unfinished jobs are moved, not copied: a runner could also take the copy.
      if (!isFinal(job.status)) await tx.manager.update(jobSchema, { id: job.id }, { attempt: run.attempt });
      else
        await tx.manager.insert(
          jobSchema,
          (again.has(job)
            ? freshJob(job, { attempt: run.attempt, now: tx.now, hold, debug })
            : carriedJob(job, run.attempt)) as never,
        );
    }
    const runChanges = (await RunChanges.open(deps, tx, after, id))!;
    await advanceJobs(deps, tx, after, runChanges, { ...loaded, run });
    return runChanges.run;
  });
}

/** The jobs to re-run, with the whole matrix of every job that depends on them. */
function chosenJobs(workflow: Workflow, jobs: readonly JobRow[], choice: RerunChoice): Set<JobRow> {
  const failed = (job: JobRow) => job.status === 'failure' || job.status === 'cancelled';
  const isChosen = (job: JobRow) => choice === 'all' || (choice === 'failed' ? failed(job) : job.id === choice.jobId);
  const chosen = new Set(jobs.filter(isChosen));
  const keys = new Set([...chosen].map((job) => job.jobKey));
  for (let size = 0; size !== keys.size; ) {
    size = keys.size;
    for (const { key, waitsFor } of workflow.jobs.values()) {
      if (!waitsFor.some((need) => keys.has(need))) continue;
      keys.add(key);
      for (const job of jobs) if (job.jobKey === key) chosen.add(job);
    }
  }
  return chosen;
}

function carriedJob({ id: _, ...job }: JobRow, attempt: number): NewJob {
  return { ...job, attempt };
}

function freshJob(
  { id: _, ...job }: JobRow,
  { attempt, now, hold, debug }: { attempt: number; now: number; hold: 'run' | 'needs'; debug: boolean },
): NewJob {
  return {
    ...job,
    attempt,
    hold,
    debug,
    ...outsideEnvironments,
    status: 'blocked',
    runsOn: null,
    reason: null,
    concurrencyGroup: null,
    concurrencyState: null,
    taskId: null,
    losses: 0,
    lostRunner: null,
    createdAt: now,
    waitingSince: null,
    startedAt: null,
    finishedAt: null,
  };
}
