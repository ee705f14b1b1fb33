import { z } from 'zod';
import { describeJob, describeRun } from '../../../ci/index.ts';
import type { JobRow, RunRow } from '../../../ci/index.ts';
import type { Found } from '../../../repositories/index.ts';
import { runPathNumber, repositoryUrl } from '../../../http/index.ts';
import type { WebDeps } from '../../../web/index.ts';
import { created, json, listed, noContent } from '../../responses.ts';
import { operation } from '../../operation.ts';
import {
  type job as jobShape,
  jobWithSteps,
  newRun,
  rerunRequest,
  run as runShape,
  runEvent,
  runStatus,
  runWithJobs,
  startableWorkflow,
} from './ci-schemas.ts';
import { logResponse } from './job-log.ts';
import { idBefore, paging } from '../shapes/schemas.ts';
import { isoTime, isoTimeOrNull } from '../shapes/payloads.ts';
import { textOfInput } from './workflow-inputs.ts';

const at = '/repos/{owner}/{name}/runs';

interface Where {
  found: Found;
  deps: Pick<WebDeps, 'accounts'>;
  origin: string;
}

const pageOf = ({ found, origin }: Where, number: number): string =>
  `${origin}${repositoryUrl(found.canonical)}/runs/${number}`;

async function showRuns(where: Where, rows: readonly RunRow[]): Promise<z.output<typeof runShape>[]> {
  const people = await where.deps.accounts.peopleById(rows.flatMap(({ actorId }) => actorId ?? []));
  return rows.map((row) => ({
    ...describeRun(row, row.actorId === null ? null : (people.get(row.actorId)?.username ?? null), isoTime),
    url: pageOf(where, row.number),
  }));
}

export const showRun = async (where: Where, row: RunRow) => (await showRuns(where, [row]))[0]!;

function showJob(where: Where, number: number, job: JobRow, waitsFor: string | null): z.output<typeof jobShape> {
  return { ...describeJob(job, waitsFor, isoTime), url: `${pageOf(where, number)}/jobs/${job.id}` };
}

async function reasonsToWait({ ci }: Pick<WebDeps, 'ci'>, found: Found): Promise<Map<number, string>> {
  return new Map((await ci.tasks.explainQueue(found)).map(({ job, reason }) => [job.id, reason]));
}

export const listRuns = operation({
  id: 'listRuns',
  method: 'GET',
  path: at,
  tag: 'Runs',
  summary: 'List a repository’s runs, newest first',
  access: 'repository:read',
  cost: 'rows',
  status: 200,
  isPaged: true,
  query: z.object({
    ...paging,
    status: runStatus.optional(),
    event: runEvent.optional(),
    workflow: z.string().max(500).optional().describe('Workflow file'),
    branch: z.string().max(1000).optional(),
  }),
  response: z.array(runShape),
  async run({ found, query: { limit, after, branch, ...filter }, deps, origin }) {
    const before = idBefore(after) ?? undefined;
    const wanted = { ...filter, ref: branch === undefined ? undefined : `refs/heads/${branch}` };
    const { runs, next } = await deps.ci.runs.list(found, wanted, { limit, before });
    const { total } = next === null ? { total: null } : await deps.ci.runs.page(found, wanted, { limit: 1, skip: 0 });
    return listed(await showRuns({ found, deps, origin }, runs), next === null ? null : String(next), total);
  },
});

export const startRun = operation({
  id: 'startRun',
  method: 'POST',
  path: at,
  tag: 'Runs',
  summary: 'Start a workflow manually',
  access: 'repository:write',
  cost: 'objects',
  status: 201,
  body: newRun,
  response: runShape,
  async run({ viewer, found, body: { workflow, ref = '', inputs = {} }, deps, origin }) {
    const run = await deps.ci.workflows.dispatch(viewer, found, {
      path: workflow,
      ref,
      inputs: new Map(Object.entries(inputs).map(([name, value]) => [name, textOfInput(value)])),
    });
    const { owner, name } = found.canonical;
    return created(await showRun({ found, deps, origin }, run), `/repos/${owner}/${name}/runs/${run.number}`);
  },
});

export const dispatchEvent = operation({
  id: 'dispatchEvent',
  method: 'POST',
  path: '/repos/{owner}/{name}/dispatches',
  tag: 'Runs',
  summary: 'Start the workflows that listen for a repository_dispatch type',
  access: 'repository:write',
  cost: 'objects',
  status: 204,
  body: z.strictObject({
    event_type: z.string().describe('One of the workflows’ `types`'),
    client_payload: z.record(z.string(), z.json()).optional(),
  }),
  async run({ viewer, found, body: { event_type: type, client_payload: payload = {} }, deps }) {
    await deps.ci.workflows.dispatchEvent(viewer, found, { type, payload });
    return noContent();
  },
});

export const listStartableWorkflows = operation({
  id: 'listStartableWorkflows',
  method: 'GET',
  path: '/repos/{owner}/{name}/workflows',
  tag: 'Runs',
  summary: 'List the default branch’s workflows that can be started manually',
  access: 'repository:read',
  cost: 'objects',
  status: 200,
  response: z.array(startableWorkflow),
  async run({ found, deps }) {
    return json(
      (await deps.ci.workflows.listDispatchable(found)).map(({ path, name, inputs }) => ({
        workflow: path,
        name,
        inputs: [...inputs].map(([input, { description, type, required, default: otherwise, options }]) => ({
          name: input,
          description,
          type,
          required,
          default: otherwise,
          options: [...options],
        })),
      })),
    );
  },
});

export const getRun = operation({
  id: 'getRun',
  method: 'GET',
  path: `${at}/{number}`,
  tag: 'Runs',
  summary: 'Get a run with its jobs',
  access: 'repository:read',
  cost: 'rows',
  status: 200,
  query: z.object({ attempt: z.int().min(1).optional().describe('Defaults to the newest attempt') }),
  response: runWithJobs,
  async run({ found, params, query, deps, origin }) {
    const where = { found, deps, origin };
    const { run, jobs } = await deps.ci.runs.find(found, runPathNumber(params.number), query.attempt);
    const reasons = await reasonsToWait(deps, found);
    return json({
      ...(await showRun(where, run)),
      jobs: jobs.map((job) => showJob(where, run.number, job, reasons.get(job.id) ?? null)),
    });
  },
});

export const cancelRun = operation({
  id: 'cancelRun',
  method: 'POST',
  path: `${at}/{number}/cancel`,
  tag: 'Runs',
  summary: 'Cancel a run',
  description:
    'Jobs without a runner end immediately. Running jobs get time to clean up if their runner supports this, unless forced.',
  access: 'repository:write',
  cost: 'rows',
  status: 200,
  refuses: [409],
  body: z.strictObject({ force: z.boolean().optional() }),
  response: runShape,
  async run({ viewer, found, params, body: { force = false }, deps, origin }) {
    return json(
      await showRun(
        { found, deps, origin },
        await deps.ci.runs.cancel(viewer, found, runPathNumber(params.number), { force }),
      ),
    );
  },
});

export const approveRun = operation({
  id: 'approveRun',
  method: 'POST',
  path: `${at}/{number}/approve`,
  tag: 'Runs',
  summary: 'Approve a pull request run that is waiting for approval',
  description: 'Its code is by a user without write access. The run has no secrets, and its token is read-only.',
  access: 'repository:write',
  cost: 'rows',
  status: 200,
  refuses: [409],
  response: runShape,
  async run({ viewer, found, params, deps, origin }) {
    return json(
      await showRun({ found, deps, origin }, await deps.ci.pulls.approve(viewer, found, runPathNumber(params.number))),
    );
  },
});

export const rerunRun = operation({
  id: 'rerunRun',
  method: 'POST',
  path: `${at}/{number}/rerun`,
  tag: 'Runs',
  summary: 'Re-run jobs in a new attempt',
  description:
    'Re-runs all jobs, failed and cancelled jobs, or a single job, and the jobs that depend on them. Logs of earlier attempts are kept.',
  access: 'repository:write',
  cost: 'rows',
  status: 200,
  refuses: [409],
  body: rerunRequest,
  response: runShape,
  async run({ viewer, found, params, body: { jobs }, deps, origin }) {
    const choice = typeof jobs === 'number' ? { jobId: jobs } : (jobs as 'all' | 'failed');
    return json(
      await showRun(
        { found, deps, origin },
        await deps.ci.runs.rerun(viewer, found, runPathNumber(params.number), choice),
      ),
    );
  },
});

export const getJob = operation({
  id: 'getJob',
  method: 'GET',
  path: `${at}/{number}/jobs/{job}`,
  tag: 'Runs',
  summary: 'Get a run’s job with its steps',
  access: 'repository:read',
  cost: 'rows',
  status: 200,
  response: jobWithSteps,
  async run({ found, params, deps, origin }) {
    const { run, job, task, steps } = await deps.ci.runs.findJob(
      found,
      runPathNumber(params.number),
      runPathNumber(params.job),
    );
    const reasons = task === null ? await reasonsToWait(deps, found) : new Map<number, string>();
    return json({
      ...showJob({ found, deps, origin }, run.number, job, reasons.get(job.id) ?? null),
      runner: task?.runnerName ?? null,
      logComplete: task?.sealedAt != null,
      steps: steps.map(({ name, status, startedAt, stoppedAt, logIndex, logLength }) => ({
        name,
        status,
        startedAt: isoTimeOrNull(startedAt),
        finishedAt: isoTimeOrNull(stoppedAt),
        logFrom: logIndex,
        logRows: logLength,
      })),
    });
  },
});

export const getJobLog = operation({
  id: 'getJobLog',
  method: 'GET',
  path: `${at}/{number}/jobs/{job}/log`,
  tag: 'Runs',
  summary: 'Get a job’s log as text: time, space, content',
  access: 'repository:read',
  cost: 'objects',
  status: 200,
  query: z.object({
    from: z.int().min(0).optional().describe('First line, counted from 0'),
    tail: z.int().min(0).optional().describe('Number of lines at the end; overrides `from`'),
  }),
  response: 'bytes',
  async run({ found, params, query, deps: { ci } }) {
    const { task } = await ci.runs.findJob(found, runPathNumber(params.number), runPathNumber(params.job));
    return logResponse(ci, task, query);
  },
});
