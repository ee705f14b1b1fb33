import { formatDuration } from '../../kernel/index.ts';
import type { Tx } from '../../db/index.ts';
import type { CommitState } from '../../repositories/index.ts';
import type { CiDeps } from '../deps.ts';
import type { JobRow } from '../schema/job-schema.ts';
import type { RunRow } from '../schema/run-schema.ts';
import type { RunStatus } from '../run-status.ts';

const states: Record<RunStatus, CommitState> = {
  blocked: 'pending',
  waiting: 'pending',
  running: 'pending',
  cancelling: 'pending',
  success: 'success',
  skipped: 'success',
  failure: 'failure',
  cancelled: 'error',
};

const eventWords: Record<RunRow['event'], string> = {
  push: 'push',
  pull_request: 'pull_request',
  merge_group: 'merge_group',
  workflow_dispatch: 'dispatch',
  schedule: 'schedule',
  create: 'create',
  delete: 'delete',
  issues: 'issues',
  issue_comment: 'issue_comment',
  release: 'release',
  repository_dispatch: 'repository_dispatch',
  workflow_run: 'workflow_run',
};

/** The commit that shows the statuses of a run; for a tested merge, the head of the pull request. */
export function statusCommitOf({ event, eventPayload, sha }: Pick<RunRow, 'event' | 'eventPayload' | 'sha'>): string {
  if (event !== 'pull_request') return sha;
  const pull = eventPayload['pull_request'] as { head: { sha: string } };
  return pull.head.sha;
}

/** `CI / build (push)` */
export const contextOf = (run: Pick<RunRow, 'workflowName' | 'event'>, jobName: string): string =>
  `${run.workflowName} / ${jobName} (${eventWords[run.event]})`;

/** The commit status of a job. */
export function describeJobStatus(
  {
    status,
    reason,
    startedAt,
    finishedAt,
    environment,
    environmentState,
  }: Pick<JobRow, 'status' | 'reason' | 'startedAt' | 'finishedAt' | 'environment' | 'environmentState'>,
  { approval }: Pick<RunRow, 'approval'>,
): string {
  if (reason !== null) return reason.slice(0, 200);
  const took = startedAt === null || finishedAt === null ? '' : ` after ${formatDuration(finishedAt - startedAt)}`;
  if (status === 'blocked' && approval === 'waiting') return 'Waiting for approval';
  if (status === 'blocked' && environmentState === 'waiting') return `Waiting to enter ${environment}`;
  const words: Record<RunStatus, string> = {
    blocked: 'Blocked',
    waiting: 'Waiting to run',
    running: 'Running',
    cancelling: 'Being cancelled',
    success: `Successful${took}`,
    failure: `Failed${took}`,
    cancelled: 'Cancelled',
    skipped: 'Skipped',
  };
  return words[status];
}

export function setJobStatus(
  { repositories }: Pick<CiDeps, 'repositories'>,
  tx: Tx,
  run: RunRow,
  job: JobRow,
  description: string,
): Promise<void> {
  return repositories.statuses.set(tx, {
    repositoryId: run.repositoryId,
    sha: statusCommitOf(run),
    context: contextOf(run, job.name),
    state: job.continueOnError && job.status === 'failure' ? 'success' : states[job.status],
    description,
    targetUrl: `runs/${run.number}/jobs/${job.id}`,
    creatorId: null,
  });
}

/** Sets the commit status of a run that failed before it had jobs. */
export function setRunProblem(
  { repositories }: Pick<CiDeps, 'repositories'>,
  tx: Tx,
  run: RunRow,
  reason: string,
): Promise<void> {
  return repositories.statuses.set(tx, {
    repositoryId: run.repositoryId,
    sha: statusCommitOf(run),
    context: `${run.workflowName} (${eventWords[run.event]})`,
    state: 'failure',
    description: reason.slice(0, 200),
    targetUrl: `runs/${run.number}`,
    creatorId: null,
  });
}

/** Removes the status under an old name when a job's name changes. */
export function removeJobStatus(
  { repositories }: Pick<CiDeps, 'repositories'>,
  tx: Tx,
  run: RunRow,
  jobName: string,
): Promise<void> {
  return repositories.statuses.remove(tx, run.repositoryId, statusCommitOf(run), contextOf(run, jobName));
}
