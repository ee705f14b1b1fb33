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
import { runNotFound } from './load-run.ts';
import { isFinal } from '../run-status.ts';
import type { RunRow } from '../schema/run-schema.ts';

/**
 * Ends a run. What no runner has ends at once; a runner that can wind up is given
 * the time to, unless forced.
 * Refuses `repository_not_found`, `run_not_found`, `run_ended`.
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
    const board = await RunChanges.open(deps, tx, after, id);
    if (board === null) throw runNotFound();
    if (isFinal(board.run.status)) throw conflict('run_ended', 'This run has ended already.');
    await cancelJobs(deps, tx, board, { reason: null, force });
    return board.run;
  });
  deps.logger.info('ci.run_cancelled', { run: id, by: viewerForLog(viewer), force });
  return run;
}
