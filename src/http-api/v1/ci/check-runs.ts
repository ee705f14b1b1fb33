import { z } from 'zod';
import type { JobRow, RunRow } from '../../../ci/index.ts';
import { json } from '../../responses.ts';
import { operation } from '../../operation.ts';
import type { Operation } from '../../operation.ts';
import { actionState, idOf, pageUrl } from './actions-schemas.ts';
import type { ActionsContext } from './actions-schemas.ts';
import { apiOf } from '../shapes/contents-payloads.ts';
import { paging } from '../shapes/schemas.ts';
import { isoTimeOrNull } from '../shapes/payloads.ts';
import { resolveRef } from '../code/trees-and-archives.ts';

/** Jobs as GitHub's check runs of a commit; external checks are statuses. */

const at = '/repos/{owner}/{name}';
const time = z.iso.datetime().nullable();

const checkRun = z
  .strictObject({
    id: z.int().describe('ID of the job'),
    node_id: z.string(),
    external_id: z.string(),
    name: z.string(),
    head_sha: z.string().describe('Commit that the check run belongs to'),
    url: z.string(),
    html_url: z.string(),
    details_url: z.string(),
    status: z.enum(['queued', 'in_progress', 'completed']),
    conclusion: z
      .enum(['success', 'failure', 'cancelled', 'skipped'])
      .nullable()
      .describe('Null until it has finished'),
    started_at: time,
    completed_at: time,
    output: z.strictObject({
      title: z.string().nullable(),
      summary: z.string().nullable(),
      text: z.null(),
      annotations_count: z.int().describe('Number of annotations, at most 300'),
      annotations_url: z.string(),
    }),
    check_suite: z.strictObject({ id: z.int().describe('ID of the run') }),
    app: z.strictObject({ id: z.literal(0), slug: z.literal('hearth'), name: z.literal('Hearth') }),
    pull_requests: z.array(z.never()),
  })
  .meta({ id: 'CheckRun' });
const checkRuns = z
  .strictObject({ total_count: z.int(), check_runs: z.array(checkRun) })
  .meta({ id: 'CheckRunsResponse' });
const checkAnnotation = z
  .strictObject({
    path: z.string().describe('Empty if the annotation does not concern a file'),
    start_line: z.int(),
    end_line: z.int(),
    start_column: z.null(),
    end_column: z.null(),
    annotation_level: z.enum(['notice', 'warning', 'failure']),
    title: z.string().nullable(),
    message: z.string(),
    raw_details: z.null(),
    blob_href: z.string(),
  })
  .meta({ id: 'CheckAnnotation' });

const states = { waiting: 'queued', pending: 'queued' } as const;

async function showCheckRun(where: ActionsContext, { run, job }: { run: RunRow; job: JobRow }, sha: string) {
  const said = await where.deps.ci.annotations.ofJobs(run, [job]);
  const { status, conclusion } = actionState(job.status);
  const url = `${apiOf({ origin: where.origin, at: where.found.canonical })}/check-runs/${job.id}`;
  const page = `${pageUrl(where)}/runs/${run.number}/jobs/${job.id}`;
  return {
    id: job.id,
    node_id: `check-run-${job.id}`,
    external_id: String(job.id),
    name: job.name,
    head_sha: sha,
    url,
    html_url: page,
    details_url: page,
    status: status === 'waiting' || status === 'pending' ? states[status] : status,
    conclusion: conclusion === '' ? null : conclusion,
    started_at: isoTimeOrNull(job.startedAt),
    completed_at: isoTimeOrNull(job.finishedAt),
    output: {
      title: job.reason,
      summary: job.reason,
      text: null,
      annotations_count: said.length,
      annotations_url: `${url}/annotations`,
    },
    check_suite: { id: run.id },
    app: { id: 0 as const, slug: 'hearth' as const, name: 'Hearth' as const },
    pull_requests: [],
  };
}

const common = { method: 'GET', tag: 'Runs', access: 'repository:read', status: 200 } as const;

const listCheckRuns = operation({
  ...common,
  id: 'listCheckRuns',
  path: `${at}/commits/{commit}/check-runs`,
  summary: 'List a commit’s jobs as GitHub check runs, the newest for each name',
  description: 'Results of external checks are commit statuses.',
  cost: 'objects',
  query: z.object({
    limit: paging.limit,
    page: z.int().min(1).max(10_000).default(1),
    check_name: z.string().max(1000).optional(),
    status: z.enum(['queued', 'in_progress', 'completed']).optional(),
    filter: z.enum(['latest', 'all']).optional().describe('Has no effect: only the latest check runs are stored'),
    app_id: z.int().optional().describe('Has no effect'),
  }),
  response: checkRuns,
  async run({ found, params, query: { limit, page, check_name: name, status }, deps, origin }) {
    const sha = await resolveRef(deps, found, params.commit);
    const fitting = (await deps.ci.runs.jobsOfCommit(found, sha)).filter(({ job }) => {
      const is = actionState(job.status).status;
      return (
        (name === undefined || job.name === name) &&
        (status === undefined || (is === 'waiting' || is === 'pending' ? states[is] : is) === status)
      );
    });
    const shown = fitting.slice((page - 1) * limit, page * limit);
    const where = { found, deps, origin };
    return json({
      total_count: fitting.length,
      check_runs: await Promise.all(shown.map((one) => showCheckRun(where, one, sha))),
    });
  },
});

const getCheckRun = operation({
  ...common,
  id: 'getCheckRun',
  path: `${at}/check-runs/{check}`,
  summary: 'Get a job by ID as a GitHub check run',
  cost: 'rows',
  response: checkRun,
  async run({ found, params, deps, origin }) {
    const { run, job } = await deps.ci.runs.findJobById(found, idOf(params.check));
    return json(await showCheckRun({ found, deps, origin }, { run, job }, deps.ci.runs.commitOf(run)));
  },
});

const levels = { error: 'failure', warning: 'warning', notice: 'notice' } as const;

const listCheckAnnotations = operation({
  ...common,
  id: 'listCheckAnnotations',
  path: `${at}/check-runs/{check}/annotations`,
  summary: 'List a job’s annotations in GitHub’s format',
  cost: 'rows',
  response: z.array(checkAnnotation),
  async run({ found, params, deps, origin }) {
    const { run, job } = await deps.ci.runs.findJobById(found, idOf(params.check));
    const page = pageUrl({ found, deps, origin });
    return json(
      (await deps.ci.annotations.ofJobs(run, [job])).map((one) => ({
        path: one.path ?? '',
        start_line: one.firstLine ?? 1,
        end_line: one.lastLine ?? one.firstLine ?? 1,
        start_column: null,
        end_column: null,
        annotation_level: levels[one.level],
        title: one.title,
        message: one.message,
        raw_details: null,
        blob_href:
          one.path === null
            ? ''
            : `${page}/blob/${one.commitId}/${one.path.split('/').map(encodeURIComponent).join('/')}`,
      })),
    );
  },
});

export const checkRunOperations: readonly Operation[] = [listCheckRuns, getCheckRun, listCheckAnnotations];
