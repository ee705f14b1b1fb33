import type { JobRow, RunRow, StepRow, TaskRow } from '../../ci/index.ts';
import { isFinal } from '../../ci/index.ts';
import { page } from '../app/reply.ts';
import type { Reply } from '../app/reply.ts';
import { viewDuration } from './durations.ts';
import { viewLogRow, viewLogSections } from './log-rows.view.ts';
import { runUrl } from './run-row.view.ts';
import { viewStatus } from '../app/commit-state.view.ts';
import { viewName } from '../app/plain-text.ts';
import { viewRepositoryHead } from '../app/repository-head.view.ts';
import { viewTime } from '../app/times.view.ts';
import type { Page, RepositoryContext } from '../app/request-context.ts';
import { runPathNumber, queryNumber } from '../../http/index.ts';
import type { RunsDeps } from './deps.ts';

/** Rows that one page holds; a log of a million rows is read in windows. */
export const rowsPerPage = 1_000;
const maxHits = 200;
const maxQuery = 256;

/**
 * Page of a job: its steps, and a window of its log. Query: `from`, the first row to show (0 is the first of the
 * log; without it, the rows that are most likely of interest); `q`, the text to search for.
 */
export const showJob: Page<RepositoryContext, RunsDeps> = async (context, deps): Promise<Reply> => {
  const { found, params, query } = context;
  const { ci, clock } = deps;
  const { run, job, task, steps } = await ci.runs.findJob(
    found,
    runPathNumber(params.number),
    runPathNumber(params.job),
  );
  const head = viewRepositoryHead(found);
  const url = `${runUrl(head.url, run.number)}/jobs/${job.id}`;
  const now = clock.now();
  const log = task === null || task.logRemovedAt !== null ? null : await logView(deps, task, steps, job, query, now);
  const queued =
    task === null && !isFinal(job.status)
      ? (await ci.tasks.explainQueue(found)).find((one) => one.job.id === job.id)
      : undefined;
  return page('runs/job', {
    repository: head,
    run: runHead(run, head.url),
    job: {
      id: job.id,
      url,
      name: viewName(job.name),
      status: viewStatus(job.status),
      duration: viewDuration(job.startedAt, job.finishedAt, now),
      started: job.startedAt === null ? null : viewTime(job.startedAt, now),
      labels: job.runsOn ?? [],
      runner: task === null ? null : viewName(task.runnerName),
      reason:
        job.reason ??
        (queued === undefined
          ? null
          : `${queued.reason}${queued.place === null ? '' : ` Position ${queued.place} in the queue.`}`),
      isActive: !isFinal(job.status),
      notices: task?.notices ?? [],
      isLogRemoved: task?.logRemovedAt != null,
    },
    log,
  });
};

const runHead = (run: RunRow, repositoryUrl: string) => ({
  number: run.number,
  url: runUrl(repositoryUrl, run.number),
  title: viewName(run.title) || run.workflowName,
  workflow: viewName(run.workflowName),
});

async function logView(
  { ci }: RunsDeps,
  task: TaskRow,
  steps: readonly StepRow[],
  job: JobRow,
  query: URLSearchParams,
  now: number,
) {
  const wanted = (query.get('q') ?? '').slice(0, maxQuery);
  const { total } = await ci.logs.read(task.id, 0, 0);
  const from = queryNumber(query, 'from') ?? likelyPlace(steps, job, total);
  const window = await ci.logs.read(task.id, from, rowsPerPage);
  const end = window.from + window.rows.length;
  return {
    sections: viewLogSections(steps, window, now),
    query: wanted,
    hits:
      wanted === ''
        ? null
        : (await ci.logs.search(task.id, wanted, maxHits)).hits.map((hit) => viewLogRow(hit, hit.number + 1)),
    maxHits,
    total,
    from: window.from,
    end,
    earlier: window.from > 0 ? Math.max(0, window.from - rowsPerPage) : null,
    later: end < total ? end : null,
    rowsPerPage,
    /** The page goes on by itself only when it shows the end of a log that grows. */
    follows: task.sealedAt === null && end >= total,
    isComplete: task.sealedAt !== null,
  };
}

/** The end of what runs, the step that failed, else the beginning. */
function likelyPlace(steps: readonly StepRow[], job: JobRow, total: number): number {
  if (!isFinal(job.status)) return Math.max(0, total - rowsPerPage);
  const failed = steps.find((step) => step.status === 'failure');
  if (failed === undefined) return 0;
  // People read a failing step from its end.
  return Math.max(0, failed.logIndex + Math.min(failed.logLength, total) - rowsPerPage);
}
