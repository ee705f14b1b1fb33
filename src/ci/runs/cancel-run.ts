import type { Viewer } from '../../access/index.ts';
import { viewerForLog } from '../../access/index.ts';
import { conflict } from '../../kernel/index.ts';
import type { Found } from '../../repositories/index.ts';
import { requireLevel } from '../require-level.ts';
import type { CiDeps } from '../deps.ts';
import { cancelJobs } from './cancel-jobs.ts';
import { changeRuns } from './change-runs.ts';
import { findRunRow } from './find-run.ts';
import { RunChanges } from './run-changes.ts';
import { runNotFound } from '../load-run.ts';
import { isFinal } from '../run-status.ts';
import type { RunRow } from '../schema/run-schema.ts';

/**
 * Cancels a run. Jobs without a runner end at once; runners may run post steps, unless forced. Throws
 * `repository_not_found`, `run_not_found`, `run_ended`.
 */
export async function cancelRun(
  deps: CiDeps,
  viewer: Viewer,
  found: Found,
  number: number,
  { force }: { force: boolean },
): Promise<RunRow> {
  requireLevel(found, 'write');
  const { id } = await findRunRow(deps, found, number);
  const run = await changeRuns(deps, async (tx, after) => {
    const runChanges = await RunChanges.open(deps, tx, after, id);
    if (runChanges === null) throw runNotFound();
    if (isFinal(runChanges.run.status)) throw conflict('run_ended', 'This run has already finished.');
    await cancelJobs(deps, tx, runChanges, { reason: null, force });
    return runChanges.run;
  });
  deps.logger.info('ci.run_cancelled', { run: id, by: viewerForLog(viewer), force });
  return run;
}
