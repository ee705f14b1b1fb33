import { awaitsApproval } from '../../ci/index.ts';
import type { RunRow, RunStatus } from '../../ci/index.ts';
import type { CommitState } from '../../repositories/index.ts';

/** The text of a state, with the icon and the tone that go with it; colour is never the only sign. */
export interface StatusView {
  text: string;
  icon: string;
  tone: 'good' | 'bad' | 'busy' | 'idle';
  isFinal: boolean;
}

const view = (text: string, icon: string, tone: StatusView['tone'], isFinal = true): StatusView => ({
  text,
  icon,
  tone,
  isFinal,
});

const views: Record<RunStatus, StatusView> = {
  blocked: view('Blocked', 'circle', 'idle', false),
  waiting: view('Waiting', 'clock', 'busy', false),
  running: view('Running', 'run', 'busy', false),
  cancelling: view('Being cancelled', 'run', 'busy', false),
  success: view('Succeeded', 'check', 'good'),
  failure: view('Failed', 'cross', 'bad'),
  cancelled: view('Cancelled', 'ban', 'idle'),
  skipped: view('Skipped', 'skip', 'idle'),
};

export const viewStatus = (status: RunStatus): StatusView => views[status];

const waitingForApproval = view('Waiting for approval', 'clock', 'busy', false);

export const viewRunStatus = (run: Pick<RunRow, 'status' | 'approval'>): StatusView =>
  awaitsApproval(run) ? waitingForApproval : views[run.status];

const commitViews: Record<CommitState, StatusView> = {
  pending: view('Checks are running', 'clock', 'busy', false),
  success: view('All checks passed', 'check', 'good'),
  failure: view('A check failed', 'cross', 'bad'),
  error: view('A check was cancelled', 'ban', 'bad'),
};

export const viewCommitState = (state: CommitState): StatusView => commitViews[state];
