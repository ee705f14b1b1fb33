import { rows } from '../../db/index.ts';
import type { CiDeps } from '../deps.ts';
import { advanceJobs } from '../runs/advance-run.ts';
import { changeRuns } from '../runs/change-runs.ts';
import { RunChanges } from '../runs/run-changes.ts';

/** Same limit as on GitHub. */
const longestWaitMs = 30 * 24 * 3_600_000;

/** Starts jobs whose wait is over, and ends jobs without an approval after thirty days. */
export async function sweepEnvironments(deps: CiDeps): Promise<void> {
  const now = deps.clock.now();
  const { read } = deps.db;
  const due = await rows<{ runId: number }>(
    read,
    `SELECT j.run_id AS "runId" FROM ci_jobs j
      WHERE j.environment_state = 'waiting' AND j.environment_until <= ?
        AND (j.environment_approved = 1
          OR EXISTS (SELECT 1 FROM ci_environments e WHERE e.id = j.environment_id AND e.needs_review = 0))`,
    [now],
  );
  const forgotten = await rows<{ runId: number }>(
    read,
    `SELECT j.run_id AS "runId" FROM ci_jobs j
      WHERE j.environment_state = 'waiting' AND j.environment_since < ?`,
    [now - longestWaitMs],
  );
  for (const runId of new Set([...due, ...forgotten].map((row) => row.runId))) {
    await letIn(deps, runId).catch((error: unknown) =>
      deps.logger.error('ci.environment_sweep_failed', { run: runId, error }),
    );
  }
}

async function letIn(deps: CiDeps, runId: number): Promise<void> {
  const loaded = await deps.runs.load(runId);
  await changeRuns(deps, async (tx, after) => {
    const runChanges = await RunChanges.open(deps, tx, after, runId);
    if (runChanges === null) return;
    for (const job of runChanges.jobs) {
      if (job.environmentState !== 'waiting' || (job.environmentSince ?? tx.now) >= tx.now - longestWaitMs) continue;
      runChanges.change(job, {
        status: 'failure',
        reason: `Nobody has reviewed the deployment to ${job.environment} in 30 days.`,
      });
    }
    await advanceJobs(deps, tx, after, runChanges, loaded);
  });
}
