import { personIdOf, viewerForLog } from '../../access/index.ts';
import type { Viewer } from '../../access/index.ts';
import type { Tx } from '../../db/index.ts';
import { conflict, invalid } from '../../kernel/index.ts';
import type { Found } from '../../repositories/index.ts';
import type { CiDeps } from '../deps.ts';
import { isFinal } from '../run-status.ts';
import { advanceJobs } from '../runs/advance-run.ts';
import type { AfterCommit } from '../runs/after-commit.ts';
import { changeRuns } from '../runs/change-runs.ts';
import { findRunRow } from '../runs/find-run.ts';
import { statusCommitOf } from '../runs/job-commit-status.ts';
import { runNotFound } from '../load-run.ts';
import type { LoadedRun } from '../load-run.ts';
import { RunChanges } from '../runs/run-changes.ts';
import { claimGroupOfRun } from '../runs/start-run.ts';
import { runSchema } from '../schema/run-schema.ts';
import type { RunRow } from '../schema/run-schema.ts';
import type { PullAt } from './runs-awaiting-approval.ts';
import { pullNumberOf, runsAwaitingApproval } from './runs-awaiting-approval.ts';

const notWaiting = () => conflict('run_not_waiting', 'This run is not waiting for approval.');
const outdated = () =>
  conflict('pull_updated', 'The pull request has new commits. Review them before you approve the run.');

/**
 * Approves one run of a pull request. Throws `run_not_found`, `run_not_waiting`, `pull_closed`, `pull_updated` if the
 * pull request has new commits, and the errors of the `run_ci` permission, checked inside the write.
 */
export async function approveRun(deps: CiDeps, viewer: Viewer, found: Found, number: number): Promise<RunRow> {
  const { id, ...run } = await findRunRow(deps, found, number);
  const pullNumber = pullNumberOf(run);
  if (pullNumber === null || run.approval === null) throw notWaiting();
  const [approved] = await approve(deps, viewer, { repositoryId: run.repositoryId, number: pullNumber }, null, [
    await deps.runs.load(id),
  ]);
  return approved!;
}

/**
 * Approves every waiting run of a pull request. Throws the errors of `approveRun`.
 * @param headOid the head that the viewer has seen
 */
export async function approveRunsOfPull(
  deps: CiDeps,
  viewer: Viewer,
  found: Found,
  { number, headOid }: { number: number; headOid: string },
): Promise<RunRow[]> {
  const place = { repositoryId: found.repository.id, number };
  const waiting = await runsAwaitingApproval(deps.db.read, place);
  const loaded = await Promise.all(waiting.map(({ id }) => deps.runs.load(id)));
  return approve(deps, viewer, place, headOid, loaded);
}

async function approve(
  deps: CiDeps,
  viewer: Viewer,
  place: PullAt,
  headOid: string | null,
  loaded: readonly LoadedRun[],
): Promise<RunRow[]> {
  const runs = await changeRuns(deps, async (tx, after) => {
    const { issue, pull } = await deps.pullSources().pulls.inWrite(tx, viewer, place, 'run_ci');
    if (issue.state !== 'OPEN') throw invalid('pull_closed', 'The pull request is not open.');
    if (headOid !== null && headOid !== pull.headOid) throw outdated();
    if (loaded.length === 0) throw notWaiting();
    const approved: RunRow[] = [];
    for (const one of loaded) approved.push(await startApproved(deps, tx, after, viewer, one, pull.headOid));
    return approved;
  });
  for (const { id } of runs) deps.logger.info('ci.run_approved', { run: id, by: viewerForLog(viewer) });
  return runs;
}

async function startApproved(
  deps: CiDeps,
  tx: Tx,
  after: AfterCommit,
  viewer: Viewer,
  loaded: LoadedRun,
  headOid: string,
): Promise<RunRow> {
  const runChanges = await RunChanges.open(deps, tx, after, loaded.run.id);
  if (runChanges === null) throw runNotFound();
  const { run } = runChanges;
  // The listener that ends runs of earlier rounds may be behind.
  if (statusCommitOf(run) !== headOid) throw outdated();
  if (run.approval !== 'waiting' || isFinal(run.status)) throw notWaiting();
  Object.assign(run, { approval: 'approved', approvedBy: personIdOf(viewer), approvedAt: tx.now });
  const { approval, approvedBy, approvedAt } = run;
  await tx.manager.update(runSchema, { id: run.id }, { approval, approvedBy, approvedAt });
  const problem = await claimGroupOfRun(deps, tx, after, { ...loaded, run });
  // Variables in its `concurrency` may have changed while it waited.
  if (problem !== null)
    for (const job of runChanges.jobs) runChanges.change(job, { status: 'failure', reason: problem.message });
  await advanceJobs(deps, tx, after, runChanges, { ...loaded, run });
  return run;
}
