import { z } from 'zod';
import { branchOf } from '../../../kernel/index.ts';
import { json, noContent } from '../../responses.ts';
import { operation } from '../../operation.ts';
import type { Operation } from '../../operation.ts';
import { pageOfRuns, pages, runQuery, runStatus } from './action-run-pages.ts';
import {
  actionJob,
  actionJobs,
  actionRun,
  actionRuns,
  actionTasks,
  actionsUrl,
  idOf,
  attemptOf,
  showActionJobs,
  showActionRuns,
  statusesOf,
} from './actions-schemas.ts';
import { logResponse, logsResponse } from './job-log.ts';
import { isoTime, isoTimeOrNull } from '../shapes/payloads.ts';

const at = '/repos/{owner}/{name}/actions';
const shared = { tag: 'Runs', cost: 'rows' } as const;

type RerunChoice = 'all' | 'failed' | { jobId: number };

const listActionRuns = operation({
  ...shared,
  id: 'listActionRuns',
  method: 'GET',
  path: `${at}/runs`,
  summary: 'List a repository’s runs in Gitea’s format, newest first',
  access: 'repository:read',
  status: 200,
  query: runQuery,
  response: actionRuns,
  run: ({ query, ...where }) => pageOfRuns(where, query),
});

const getActionRun = operation({
  ...shared,
  id: 'getActionRun',
  method: 'GET',
  path: `${at}/runs/{run}`,
  summary: 'Get a run by ID in Gitea’s format',
  access: 'repository:read',
  status: 200,
  response: actionRun,
  async run({ found, params, deps, origin }) {
    const row = await deps.ci.runs.byId(found, idOf(params.run));
    return json((await showActionRuns({ found, deps, origin }, [row]))[0]!);
  },
});

const deleteActionRun = operation({
  ...shared,
  id: 'deleteActionRun',
  method: 'DELETE',
  path: `${at}/runs/{run}`,
  summary: 'Delete a finished run with its logs and artifacts',
  access: 'repository:admin',
  status: 204,
  refuses: [409],
  async run({ viewer, found, params, deps }) {
    const { number } = await deps.ci.runs.byId(found, idOf(params.run));
    await deps.ci.runs.remove(viewer, found, number);
    return noContent();
  },
});

const cancelActionRun = operation({
  ...shared,
  id: 'cancelActionRun',
  method: 'POST',
  path: `${at}/runs/{run}/cancel`,
  summary: 'Cancel a run by ID',
  access: 'repository:write',
  status: 204,
  refuses: [409],
  async run({ viewer, found, params, deps }) {
    const { number } = await deps.ci.runs.byId(found, idOf(params.run));
    await deps.ci.runs.cancel(viewer, found, number, { force: false });
    return noContent();
  },
});

const rerunOperation = (path: string, id: string, summary: string, choice: (params: { job?: string }) => RerunChoice) =>
  operation({
    ...shared,
    id,
    method: 'POST',
    path: `${at}/runs/{run}/${path}` as `${typeof at}/runs/{run}/jobs/{job}/rerun`,
    summary,
    access: 'repository:write',
    status: 200,
    refuses: [409],
    response: actionRun,
    async run({ viewer, found, params, deps, origin }) {
      const { number } = await deps.ci.runs.byId(found, idOf(params.run));
      const row = await deps.ci.runs.rerun(viewer, found, number, choice(params));
      return json((await showActionRuns({ found, deps, origin }, [row]))[0]!);
    },
  });

const listActionJobs = operation({
  ...shared,
  id: 'listActionJobs',
  method: 'GET',
  path: `${at}/runs/{run}/jobs`,
  summary: 'List a run’s jobs and their steps in Gitea’s format',
  access: 'repository:read',
  status: 200,
  query: z.object(pages),
  response: actionJobs,
  async run({ found, params, query: { limit, page }, deps, origin }) {
    const row = await deps.ci.runs.byId(found, idOf(params.run));
    const { jobs } = await deps.ci.runs.find(found, row.number);
    const shown = jobs.slice((page - 1) * limit, page * limit);
    return json({ total_count: jobs.length, jobs: await showActionJobs({ found, deps, origin }, row, shown) });
  },
});

const getRunAttempt = operation({
  ...shared,
  id: 'getRunAttempt',
  method: 'GET',
  path: `${at}/runs/{run}/attempts/{attempt}`,
  summary: 'Get a run attempt in GitHub’s format, with state and times computed from its jobs',
  access: 'repository:read',
  status: 200,
  response: actionRun,
  async run({ found, params, deps, origin }) {
    const row = await deps.ci.runs.byId(found, idOf(params.run));
    const { attempt, jobs } = await deps.ci.runs.find(found, row.number, idOf(params.attempt));
    const shown = (await showActionRuns({ found, deps, origin }, [row]))[0]!;
    return json(attempt === row.attempt ? shown : { ...shown, ...attemptOf(attempt, jobs) });
  },
});

const listAttemptJobs = operation({
  ...shared,
  id: 'listAttemptJobs',
  method: 'GET',
  path: `${at}/runs/{run}/attempts/{attempt}/jobs`,
  summary: 'List the jobs of a run attempt in GitHub’s format',
  access: 'repository:read',
  status: 200,
  query: z.object(pages),
  response: actionJobs,
  async run({ found, params, query: { limit, page }, deps, origin }) {
    const row = await deps.ci.runs.byId(found, idOf(params.run));
    const { jobs } = await deps.ci.runs.find(found, row.number, idOf(params.attempt));
    const shown = jobs.slice((page - 1) * limit, page * limit);
    return json({ total_count: jobs.length, jobs: await showActionJobs({ found, deps, origin }, row, shown) });
  },
});

const getActionRunLogs = operation({
  ...shared,
  id: 'getActionRunLogs',
  method: 'GET',
  path: `${at}/runs/{run}/logs`,
  summary: 'Download the logs of a run’s newest attempt as a zip archive, with one file per job',
  access: 'repository:read',
  cost: 'objects',
  status: 200,
  response: 'bytes',
  async run({ found, params, deps: { ci } }) {
    const { number } = await ci.runs.byId(found, idOf(params.run));
    const { jobs } = await ci.runs.find(found, number);
    return logsResponse(ci, jobs, `logs-${found.canonical.name}-${number}.zip`);
  },
});

const listRepositoryJobs = operation({
  ...shared,
  id: 'listRepositoryJobs',
  method: 'GET',
  path: `${at}/jobs`,
  summary: 'List the jobs of all runs in a repository in Gitea’s format, newest first',
  access: 'repository:read',
  status: 200,
  query: z.object({ ...pages, status: runStatus.optional() }),
  response: actionJobs,
  async run({ found, query: { limit, page, status }, deps, origin }) {
    const statuses = status === undefined ? undefined : statusesOf[status];
    const { jobs, total } = await deps.ci.runs.jobs(found, statuses, { limit, skip: (page - 1) * limit });
    const byRun = Map.groupBy(jobs, ({ run }) => run);
    const shown = await Promise.all(
      [...byRun].map(([run, rows]) =>
        showActionJobs(
          { found, deps, origin },
          run,
          rows.map(({ job }) => job),
        ),
      ),
    );
    return json({ total_count: total, jobs: shown.flat().sort((a, b) => b.id - a.id) });
  },
});

const getActionJob = operation({
  ...shared,
  id: 'getActionJob',
  method: 'GET',
  path: `${at}/jobs/{job}`,
  summary: 'Get a job by ID in Gitea’s format',
  access: 'repository:read',
  status: 200,
  response: actionJob,
  async run({ found, params, deps, origin }) {
    const { run, job } = await deps.ci.runs.findJobById(found, idOf(params.job));
    return json((await showActionJobs({ found, deps, origin }, run, [job]))[0]!);
  },
});

const getActionJobLog = operation({
  ...shared,
  id: 'getActionJobLog',
  method: 'GET',
  path: `${at}/jobs/{job}/logs`,
  summary: 'Get a job’s log by ID as text: time, space, content',
  access: 'repository:read',
  cost: 'objects',
  status: 200,
  response: 'bytes',
  async run({ found, params, deps: { ci } }) {
    const { task } = await ci.runs.findJobById(found, idOf(params.job));
    return logResponse(ci, task, {});
  },
});

const listActionTasks = operation({
  ...shared,
  id: 'listActionTasks',
  method: 'GET',
  path: `${at}/tasks`,
  summary: 'List tasks dispatched to runners in Gitea’s format, newest first',
  access: 'repository:read',
  status: 200,
  query: z.object(pages),
  response: actionTasks,
  async run({ found, query: { limit, page }, deps, origin }) {
    const { tasks, total } = await deps.ci.runs.listTasks(found, { limit, skip: (page - 1) * limit });
    const where = { found, deps, origin };
    return json({
      total_count: total,
      workflow_runs: tasks.map(({ task, job, run }) => ({
        id: task.id,
        name: job.name,
        head_branch: branchOf(run.ref) ?? '',
        head_sha: run.sha,
        run_number: run.number,
        event: run.event,
        display_title: run.title,
        status: task.status,
        workflow_id: run.workflowPath,
        url: `${actionsUrl(where)}/jobs/${job.id}`,
        created_at: isoTime(task.createdAt),
        updated_at: isoTime(task.stoppedAt ?? task.reportedAt ?? task.createdAt),
        run_started_at: isoTimeOrNull(task.startedAt),
      })),
    });
  },
});

/** Runs, jobs and tasks in the shapes of Gitea's API, which are GitHub's. */
export const actionOperations: readonly Operation[] = [
  listActionRuns,
  getActionRun,
  deleteActionRun,
  cancelActionRun,
  rerunOperation('rerun', 'rerunActionRun', 'Re-run all jobs of a run by ID', () => 'all'),
  rerunOperation('rerun-failed-jobs', 'rerunFailedActionJobs', 'Re-run the failed jobs of a run', () => 'failed'),
  rerunOperation('jobs/{job}/rerun', 'rerunActionJob', 'Re-run a job and its dependent jobs', ({ job = '' }) => ({
    jobId: idOf(job),
  })),
  listActionJobs,
  getRunAttempt,
  listAttemptJobs,
  getActionRunLogs,
  listRepositoryJobs,
  getActionJob,
  getActionJobLog,
  listActionTasks,
];
