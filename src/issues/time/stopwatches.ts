import type { Viewer } from '../../access/index.ts';
import { conflict } from '../../kernel/index.ts';
import type { IssueDeps } from '../deps.ts';
import { findIssue, issueInWrite } from '../find-issue.ts';
import type { IssueAt } from '../issue-context.ts';
import { issueSchema } from '../schema/issue-schema.ts';
import { stopwatchSchema, trackedTimeSchema } from '../schema/time-schema.ts';
import type { StopwatchRow } from '../schema/time-schema.ts';
import { trackerOf } from './tracked-times.ts';

const notRunning = () => conflict('stopwatch_not_running', 'You have no stopwatch running on this issue.');

/**
 * Starts, stops or discards the viewer's stopwatch on an issue; stopping adds the time. Starting one stops the
 * stopwatch that runs elsewhere. Throws `stopwatch_running`, `stopwatch_not_running`, and errors of the triage
 * permission.
 */
export async function useStopwatch(
  deps: IssueDeps,
  viewer: Viewer,
  at: IssueAt,
  act: 'start' | 'stop' | 'delete',
): Promise<void> {
  const { issue } = await findIssue(deps, viewer, at);
  const userId = trackerOf(viewer);
  await deps.db.write(async (tx) => {
    const { id: issueId } = (await issueInWrite(deps, tx, viewer, issue, 'triage')).issue;
    const running = await tx.manager.findBy(stopwatchSchema, { userId });
    const here = running.find((watch) => watch.issueId === issueId);
    const stop = async (watch: StopwatchRow): Promise<void> => {
      const seconds = Math.max(1, Math.round((tx.now - watch.createdAt) / 1000));
      await tx.manager.delete(stopwatchSchema, { userId, issueId: watch.issueId });
      const { id, repositoryId } = await tx.manager.findOneByOrFail(issueSchema, { id: watch.issueId });
      const row = { issueId: id, repositoryId, userId, userName: null, origin: null, seconds, createdAt: tx.now };
      await tx.manager.insert(trackedTimeSchema, row);
    };
    if (act === 'start') {
      if (here !== undefined) throw conflict('stopwatch_running', 'Your stopwatch is already running on this issue.');
      for (const watch of running) await stop(watch);
      await tx.manager.insert(stopwatchSchema, { userId, issueId, createdAt: tx.now });
      return;
    }
    if (here === undefined) throw notRunning();
    if (act === 'stop') await stop(here);
    else await tx.manager.delete(stopwatchSchema, { userId, issueId });
  });
}

/** The viewer's running stopwatches: at most one. */
export const listStopwatches = (deps: IssueDeps, viewer: Viewer): Promise<StopwatchRow[]> =>
  deps.db.read.findBy(stopwatchSchema, { userId: trackerOf(viewer) });
