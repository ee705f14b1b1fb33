import { z } from 'zod';
import type { JobRow, RunRow, RunStatus } from '../../../ci/index.ts';
import { repositoryUrl } from '../../../http/index.ts';
import type { WebDeps } from '../../../web/index.ts';
import { branchOf, notFound } from '../../../kernel/index.ts';
import type { Found } from '../../../repositories/index.ts';
import { isoTime, isoTimeOrNull } from '../shapes/payloads.ts';

/** The shapes of runs, jobs and workflows in Gitea's API, which are GitHub's. */

const time = z.iso.datetime();
const state = {
  status: z.enum(['waiting', 'pending', 'queued', 'in_progress', 'completed']),
  conclusion: z.enum(['success', 'failure', 'cancelled', 'skipped', '']).describe('Empty until it has finished'),
};
const actor = z.strictObject({ id: z.string(), login: z.string() }).nullable();

export const actionRun = z
  .strictObject({
    id: z.int(),
    url: z.string(),
    html_url: z.string(),
    display_title: z.string(),
    path: z.string().describe('Workflow file, `@`, and the full ref name'),
    event: z.string(),
    run_attempt: z.int(),
    run_number: z.int(),
    repository_id: z.string(),
    head_sha: z.string(),
    head_branch: z.string(),
    ...state,
    actor,
    trigger_actor: actor,
    deploy_key: z
      .string()
      .nullable()
      .describe('Title of the deploy key whose push started it; such runs have no actor'),
    created_at: time,
    started_at: time.nullable(),
    completed_at: time.nullable(),
  })
  .meta({ id: 'ActionWorkflowRun' });
export const actionRuns = z
  .strictObject({
    total_count: z.int().describe('Counted up to 10,000'),
    workflow_runs: z.array(actionRun),
  })
  .meta({ id: 'ActionWorkflowRunsResponse' });

const step = z.strictObject({
  name: z.string(),
  number: z.int(),
  ...state,
  started_at: time.nullable(),
  completed_at: time.nullable(),
});
export const actionJob = z
  .strictObject({
    id: z.int(),
    url: z.string(),
    html_url: z.string(),
    run_id: z.int(),
    run_url: z.string(),
    name: z.string(),
    labels: z.array(z.string()),
    run_attempt: z.int(),
    head_sha: z.string(),
    head_branch: z.string(),
    ...state,
    runner_id: z.int().nullable(),
    runner_name: z.string().nullable(),
    steps: z.array(step),
    created_at: time,
    started_at: time.nullable(),
    completed_at: time.nullable(),
  })
  .meta({ id: 'ActionWorkflowJob' });
export const actionJobs = z
  .strictObject({ total_count: z.int(), jobs: z.array(actionJob) })
  .meta({ id: 'ActionWorkflowJobsResponse' });

export const actionWorkflow = z
  .strictObject({
    id: z.string().describe('File path relative to the workflow directory'),
    name: z.string(),
    path: z.string().describe('File path relative to the repository root'),
    state: z.enum(['active', 'disabled_manually']),
    url: z.string(),
    html_url: z.string(),
    badge_url: z.string(),
  })
  .meta({ id: 'ActionWorkflow' });
export const actionWorkflows = z
  .strictObject({ total_count: z.int(), workflows: z.array(actionWorkflow) })
  .meta({ id: 'ActionWorkflowResponse' });

const actionTask = z
  .strictObject({
    id: z.int(),
    name: z.string(),
    head_branch: z.string(),
    head_sha: z.string(),
    run_number: z.int(),
    event: z.string(),
    display_title: z.string(),
    status: z.enum(['running', 'cancelling', 'success', 'failure', 'cancelled', 'skipped', 'waiting', 'blocked']),
    workflow_id: z.string(),
    url: z.string(),
    created_at: time,
    updated_at: time,
    run_started_at: time.nullable(),
  })
  .meta({ id: 'ActionTask' });
export const actionTasks = z
  .strictObject({ total_count: z.int().describe('Counted up to 10,000'), workflow_runs: z.array(actionTask) })
  .meta({ id: 'ActionTaskResponse' });

type ActionState = { [name in keyof typeof state]: z.output<(typeof state)[name]> };

/**
 * @param approval of a run: status `waiting` while its code needs approval
 */
export function actionState(status: RunStatus, approval: RunRow['approval'] = null): ActionState {
  if (status === 'blocked') return { status: approval === 'waiting' ? 'waiting' : 'pending', conclusion: '' };
  if (status === 'waiting') return { status: 'queued', conclusion: '' };
  if (status === 'running' || status === 'cancelling') return { status: 'in_progress', conclusion: '' };
  return { status: 'completed', conclusion: status };
}

/** Meanings of the parameter `status` of a list. */
export const statusesOf: Record<string, readonly RunStatus[]> = {
  pending: ['blocked'],
  queued: ['waiting'],
  in_progress: ['running', 'cancelling'],
  success: ['success'],
  failure: ['failure'],
  cancelled: ['cancelled'],
  skipped: ['skipped'],
  completed: ['success', 'failure', 'cancelled', 'skipped'],
};

export interface ActionsContext {
  found: Pick<Found, 'canonical'>;
  deps: Pick<WebDeps, 'accounts' | 'ci'>;
  origin: string;
}

export const actionsUrl = ({ found: { canonical }, origin }: ActionsContext): string =>
  `${origin}/api/v1/repos/${canonical.owner}/${canonical.name}/actions`;
export const pageUrl = ({ found, origin }: ActionsContext): string => origin + repositoryUrl(found.canonical);

export async function showActionRuns(
  where: ActionsContext,
  rows: readonly RunRow[],
): Promise<z.output<typeof actionRun>[]> {
  const ids = rows.flatMap(({ actorId, attemptActorId }) => [actorId ?? [], attemptActorId ?? []].flat());
  const people = await where.deps.accounts.peopleById(ids);
  const person = (id: string | null) => {
    const login = id === null ? null : (people.get(id)?.username ?? null);
    return id === null || login === null ? null : { id, login };
  };
  return rows.map((run) => ({
    id: run.id,
    url: `${actionsUrl(where)}/runs/${run.id}`,
    html_url: `${pageUrl(where)}/runs/${run.number}`,
    display_title: run.title,
    path: `${run.workflowPath}@${run.ref}`,
    event: run.event,
    run_attempt: run.attempt,
    run_number: run.number,
    repository_id: run.repositoryId,
    head_sha: run.sha,
    head_branch: branchOf(run.ref) ?? '',
    ...actionState(run.status, run.approval),
    actor: person(run.actorId),
    trigger_actor: person(run.attemptActorId),
    deploy_key: run.deployKey,
    created_at: isoTime(run.createdAt),
    started_at: isoTimeOrNull(run.startedAt),
    completed_at: isoTimeOrNull(run.finishedAt),
  }));
}

/** State of an earlier attempt of a run, from its jobs, which have all ended. */
export function attemptOf(attempt: number, jobs: readonly JobRow[]) {
  const failed = (['failure', 'cancelled', 'success'] as const).find((status) =>
    jobs.some((job) => job.status === status && !(status === 'failure' && job.continueOnError)),
  );
  const timesOf = (name: 'startedAt' | 'finishedAt') => jobs.flatMap((job) => job[name] ?? []);
  const [started, finished] = [timesOf('startedAt'), timesOf('finishedAt')];
  return {
    run_attempt: attempt,
    ...actionState(failed ?? 'skipped'),
    started_at: isoTimeOrNull(started.length === 0 ? null : Math.min(...started)),
    completed_at: isoTimeOrNull(finished.length === 0 ? null : Math.max(...finished)),
  };
}

/** Jobs of one run. */
export async function showActionJobs(
  where: ActionsContext,
  run: RunRow,
  jobs: readonly JobRow[],
): Promise<z.output<typeof actionJob>[]> {
  const tasks = await where.deps.ci.runs.tasksOf(jobs);
  const attempts = await where.deps.ci.runs.firstAttemptsOf(jobs);
  return jobs.map((job) => {
    const ran = job.taskId === null ? undefined : tasks.get(job.taskId);
    return {
      id: job.id,
      url: `${actionsUrl(where)}/jobs/${job.id}`,
      html_url: `${pageUrl(where)}/runs/${run.number}/jobs/${job.id}`,
      run_id: run.id,
      run_url: `${actionsUrl(where)}/runs/${run.id}`,
      name: job.name,
      labels: job.runsOn ?? [],
      run_attempt: attempts.get(job.id) ?? job.attempt,
      head_sha: run.sha,
      head_branch: branchOf(run.ref) ?? '',
      ...actionState(job.status),
      runner_id: ran?.task.runnerId ?? null,
      runner_name: ran?.task.runnerName ?? null,
      steps: (ran?.steps ?? []).map((one) => ({
        name: one.name,
        number: one.position,
        ...actionState(one.status),
        started_at: isoTimeOrNull(one.startedAt),
        completed_at: isoTimeOrNull(one.stoppedAt),
      })),
      created_at: isoTime(job.createdAt),
      started_at: isoTimeOrNull(job.startedAt),
      completed_at: isoTimeOrNull(job.finishedAt),
    };
  });
}

/** Throws `run_not_found` for an invalid id. */
export function idOf(text: string): number {
  if (!/^\d{1,15}$/.test(text)) throw notFound('run_not_found', 'There is no such run.');
  return Number(text);
}
