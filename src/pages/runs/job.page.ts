import { isFinal } from '../../ci/index.ts';
import type { JobRow, RunRow } from '../../ci/index.ts';
import { page } from '../app/reply.ts';
import type { Reply } from '../app/reply.ts';
import { viewAnnotation } from '../code/annotations.view.ts';
import { viewDuration } from './durations.ts';
import { readLogPage, rowsPerPage } from './read-log-page.ts';
import { viewRerun } from './rerun.view.ts';
import { runUrl } from './run-row.view.ts';
import { viewStatus } from '../app/commit-state.view.ts';
import { viewName } from '../app/printable-names.ts';
import { viewRepositoryHeader } from '../app/repository-header.view.ts';
import type { Page, RepositoryContext } from '../app/request-context.ts';
import { runPathNumber } from '../../http/index.ts';
import { t } from '../../translation/index.ts';
import type { RunsDeps } from './deps.ts';

/** Page of a job: the other jobs of its attempt, its annotations of the commit, and its log (`readLogPage`). */
export const showJob: Page<RepositoryContext, RunsDeps> = async (context, deps): Promise<Reply> => {
  const { found, params, query } = context;
  const { ci, clock } = deps;
  const number = runPathNumber(params.number);
  const { run, job, task, steps } = await ci.runs.findJob(found, number, runPathNumber(params.job));
  const { jobs } = await ci.runs.find(found, number, job.attempt);
  const head = viewRepositoryHeader(found);
  const jobUrl = (one: JobRow): string => `${runUrl(head.url, run.number)}/jobs/${one.id}`;
  const url = jobUrl(job);
  const now = clock.now();
  const log =
    task === null || task.logRemovedAt !== null
      ? null
      : await readLogPage(deps, { task, steps, job }, { query, url, now });
  const missing = log === null || job.status !== 'failure' ? null : await ci.logs.missingReference(task!.id);
  const queued =
    task === null && !isFinal(job.status)
      ? (await ci.tasks.explainQueue(found)).find((one) => one.job.id === job.id)
      : undefined;
  return page('runs/job', {
    repository: head,
    run: runHead(run, head.url),
    jobs: jobs.map((one) => ({
      name: viewName(one.name),
      url: jobUrl(one),
      status: viewStatus(one.status),
      duration: viewDuration(one.startedAt, one.finishedAt, now),
      isShown: one.id === job.id,
    })),
    job: {
      id: job.id,
      url,
      name: viewName(job.name),
      status: viewStatus(job.status),
      duration: viewDuration(job.startedAt, job.finishedAt, now),
      labels: job.runsOn ?? [],
      runner: task === null ? null : viewName(task.runnerName),
      hasDebug: job.debug,
      reason:
        job.reason ??
        (queued === undefined
          ? null
          : `${queued.reason}${queued.place === null ? '' : ` ${t('runs.job.position_in_the_queue', { place: queued.place })}`}`),
      isActive: !isFinal(job.status),
      notices: [
        ...(task?.notices ?? []),
        ...(missing === null
          ? []
          : [t('runs.job.the_runner_did_not_find_ref', { ref: viewName(missing.ref), url: viewName(missing.url) })]),
      ],
      isLogRemoved: task?.logRemovedAt != null,
    },
    rerun: viewRerun(run, jobs, found, job),
    isRunActive: !isFinal(run.status),
    annotations: (await ci.annotations.ofJobs(run, [job])).map((one) => viewAnnotation(one, head.url)),
    log,
    rowsPerPage,
  });
};

const runHead = (run: RunRow, repositoryUrl: string) => ({
  number: run.number,
  url: runUrl(repositoryUrl, run.number),
  title: viewName(run.title) || run.workflowName,
  workflow: viewName(run.workflowName),
  isBeingCancelled: run.status === 'cancelling',
});
