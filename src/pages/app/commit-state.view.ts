import { awaitsApproval } from '../../ci/index.ts';
import type { RunRow, RunStatus } from '../../ci/index.ts';
import type { CommitState } from '../../repositories/index.ts';
import { translated } from '../../translation/index.ts';

/** The label of a state with its icon and tone; colour is never the only sign. */
export interface StatusView {
  text: string;
  icon: string;
  tone: 'good' | 'bad' | 'busy' | 'idle';
  isFinal: boolean;
}

const view = (text: string, icon: string, tone: StatusView['tone'], isFinal = true): StatusView =>
  translated({ text, icon, tone, isFinal });

const views: Record<RunStatus, StatusView> = translated({
  blocked: view('app.commit_state.blocked', 'circle', 'idle', false),
  waiting: view('app.commit_state.waiting', 'clock', 'busy', false),
  running: view('app.commit_state.running', 'run', 'busy', false),
  cancelling: view('app.commit_state.being_cancelled', 'run', 'busy', false),
  success: view('app.commit_state.succeeded', 'check', 'good'),
  failure: view('app.commit_state.failed', 'cross', 'bad'),
  cancelled: view('app.commit_state.cancelled', 'ban', 'idle'),
  skipped: view('app.commit_state.skipped', 'skip', 'idle'),
});

export const viewStatus = (status: RunStatus): StatusView => views[status];

const waitingForApproval = view('app.commit_state.waiting_for_approval', 'clock', 'busy', false);

export const viewRunStatus = (run: Pick<RunRow, 'status' | 'approval'>): StatusView =>
  awaitsApproval(run) ? waitingForApproval : views[run.status];

const commitViews: Record<CommitState, StatusView> = translated({
  pending: view('app.commit_state.checks_are_running', 'clock', 'busy', false),
  success: view('app.commit_state.all_checks_passed', 'check', 'good'),
  failure: view('app.commit_state.a_check_failed', 'cross', 'bad'),
  error: view('app.commit_state.a_check_was_cancelled', 'ban', 'bad'),
});

export const viewCommitState = (state: CommitState): StatusView => commitViews[state];
