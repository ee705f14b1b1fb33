import type { JobRow } from '../../ci/index.ts';
import { awaitsApproval, isFinal } from '../../ci/index.ts';
import { invalid } from '../../kernel/index.ts';
import { page, seeOther } from '../app/reply.ts';
import type { PageReply, Reply } from '../app/reply.ts';
import { submitForm } from '../app/submit-form.ts';
import type { FormRefusal } from '../app/submit-form.ts';
import { viewAnnotation } from '../code/annotations.view.ts';
import { viewArtifact } from './artifact.view.ts';
import { viewDuration, viewWait } from './durations.ts';
import { readApproval } from './read-approval.ts';
import { viewJobGraph } from './job-graph.view.ts';
import { readFailure } from './read-log-page.ts';
import { readPending, readReviews } from './read-pending-deployments.ts';
import { readSummaries } from './read-summaries.ts';
import { viewRerun } from './rerun.view.ts';
import { runUrl, viewRunRow } from './run-row.view.ts';
import { viewStatus } from '../app/commit-state.view.ts';
import { viewFlashMessage, withFlashMessage } from '../app/flash-messages.view.ts';
import { viewName } from '../app/printable-names.ts';
import { viewRepositoryHeader } from '../app/repository-header.view.ts';
import { repositoryUrl, runPathNumber, queryNumber } from '../../http/index.ts';
import { t } from '../../translation/index.ts';
import type { Page, RepositoryPersonContext, RepositoryContext } from '../app/request-context.ts';
import { actorsOf } from './runs.page.ts';
import { referencesOf } from '../markdown/linked-text.ts';
import { readReferences } from '../markdown/reference-links.ts';
import type { RunsDeps } from './deps.ts';

/** One run: its trigger, its job dependencies, every job of one attempt. Query: `attempt`. */
export const showRun: Page<RepositoryContext, RunsDeps> = async (context, deps) => {
  const { viewer, found, params } = context;
  const reply = await runPage(context, deps, null);
  await deps.notifications.markRunSeen(viewer, found.repository.id, runPathNumber(params.number));
  return reply;
};

async function runPage(context: RepositoryContext, deps: RunsDeps, refusal: FormRefusal | null): Promise<PageReply> {
  const { found, params, query } = context;
  const { ci, clock } = deps;
  const { run, attempt, jobs } = await ci.runs.find(found, runPathNumber(params.number), queryNumber(query, 'attempt'));
  const head = viewRepositoryHeader(found);
  const url = runUrl(head.url, run.number);
  const jobUrl = (job: JobRow): string => `${url}/jobs/${job.id}`;
  const reasons = new Map(
    (await ci.tasks.explainQueue(found)).map(({ job, reason, place }) => [
      job.id,
      place === null ? reason : t('runs.run.reason_position_place_in_the_queue', { reason, place }),
    ]),
  );
  const pullNumber = ci.pulls.numberOf(run);
  const approval = pullNumber !== null && awaitsApproval(run) ? await readApproval(context, deps, pullNumber) : null;
  const annotations = await ci.annotations.ofJobs(run, jobs);
  const runners = await ci.runs.runnersOf(jobs);
  const artifacts = await ci.artifacts.list(found, run.number);
  const references = await readReferences(context, deps, referencesOf(run.title, context.origin));
  const actors = await actorsOf([run, { actorId: run.attemptActorId }, { actorId: run.approvedBy }], deps);
  const pending = attempt === run.attempt && !isFinal(run.status) ? await readPending(context, deps, run) : [];
  const environments = pending.map(({ name }) => name);
  await deps.notifications.markDeploymentsSeen(context.viewer, found.repository.id, run.number, environments);
  return page('runs/run', {
    repository: head,
    run: viewRunRow(run, head.url, actors.get(run.actorId ?? '') ?? null, clock.now(), references),
    rerunBy: run.attempt > 1 ? (actors.get(run.attemptActorId ?? '') ?? null) : null,
    approval,
    approvedBy: run.approval === 'approved' ? (actors.get(run.approvedBy ?? '') ?? null) : null,
    pending,
    reviews: await readReviews(deps, run),
    attempts: Array.from({ length: run.attempt }, (_, at) => at + 1).reverse(),
    attempt,
    graph: viewJobGraph(jobs, jobUrl),
    jobs: jobs.map((job) => ({
      id: job.id,
      url: jobUrl(job),
      name: viewName(job.name),
      status: viewStatus(job.status),
      mayFail: job.continueOnError,
      duration: viewDuration(job.startedAt, job.finishedAt, clock.now()),
      wait: viewWait(job, clock.now()),
      runner: runners.get(job.taskId ?? 0) ?? null,
      reason: job.reason ?? reasons.get(job.id) ?? null,
    })),
    artifacts: artifacts.map((artifact) => viewArtifact(artifact, url, clock.now())),
    mayRemove: found.level === 'admin' && isFinal(run.status),
    isActive: !isFinal(run.status),
    isBeingCancelled: run.status === 'cancelling',
    rerun: viewRerun(run, jobs, found),
    mayRerun: run.approval !== 'waiting',
    annotations: annotations.map((one) => viewAnnotation(one, head.url)),
    failure: annotations.some(({ level }) => level === 'error')
      ? null
      : await firstFailure(context, deps, jobs, jobUrl),
    summaries: await readSummaries(context, deps, jobs),
    refusal,
    notice: viewFlashMessage(query),
  });
}

/** The end of the log of the first failed job. */
async function firstFailure(
  { found, params }: RepositoryContext,
  deps: RunsDeps,
  jobs: readonly JobRow[],
  jobUrl: (job: JobRow) => string,
) {
  const failed = jobs.find((job) => job.status === 'failure' && job.taskId !== null);
  if (failed === undefined) return null;
  const { task, job, steps } = await deps.ci.runs.findJob(found, runPathNumber(params.number), failed.id);
  const tail = task === null ? null : await readFailure(deps, { task, job, steps }, jobUrl(job));
  return tail && { ...tail, job: viewName(job.name) };
}

const urlOf = ({ found, params }: RepositoryContext): string =>
  runUrl(repositoryUrl(found.canonical), runPathNumber(params.number));

/** A button of the run page; a refusal depends on the current state and is shown on the same page. */
function act(context: RepositoryContext, deps: RunsDeps, work: () => Promise<unknown>, notice: string): Promise<Reply> {
  return submitForm(
    async () => {
      await work();
      return seeOther(withFlashMessage(urlOf(context), notice));
    },
    (refusal) => runPage(context, deps, refusal),
  );
}

/** Field `force`: `yes` does not wait for runners to stop. */
export const cancelRun: Page<RepositoryPersonContext, RunsDeps> = (context, deps) => {
  const { viewer, found, params, form } = context;
  const force = form.text('force') === 'yes';
  return act(
    context,
    deps,
    () => deps.ci.runs.cancel(viewer, found, runPathNumber(params.number), { force }),
    'run-cancelled',
  );
};

/** Starts a run of a pull request that waits for approval. */
export const approveRun: Page<RepositoryPersonContext, RunsDeps> = (context, deps) => {
  const { viewer, found, params } = context;
  return act(context, deps, () => deps.ci.pulls.approve(viewer, found, runPathNumber(params.number)), 'run-approved');
};

/** Fields `environment` (each one to decide), `verdict`: `approved` or `rejected`, `comment`. */
export const reviewDeployments: Page<RepositoryContext, RunsDeps> = (context, deps) => {
  const { viewer, found, params, form } = context;
  const verdict = form.text('verdict');
  if (verdict !== 'approved' && verdict !== 'rejected') throw invalid('invalid_verdict', 'Approve or reject.');
  return act(
    context,
    deps,
    () =>
      deps.ci.environments.review(viewer, found, runPathNumber(params.number), {
        verdict,
        environments: form.all('environment'),
        comment: form.text('comment'),
      }),
    `deployment-${verdict}`,
  );
};

/** Field `jobs`: `all`, `failed`, or the id of one; `debug`: `yes` for debug logging. */
export const rerunJobs: Page<RepositoryPersonContext, RunsDeps> = (context, deps) => {
  const { viewer, found, params, form } = context;
  const jobs = form.text('jobs');
  const debug = form.text('debug') === 'yes';
  const choice = jobs === 'all' || jobs === 'failed' ? jobs : { jobId: runPathNumber(jobs) };
  return act(
    context,
    deps,
    () => deps.ci.runs.rerun(viewer, found, runPathNumber(params.number), choice, { debug }),
    'run-again',
  );
};

/** Permanently deletes a run, and redirects to the list of runs. */
export const removeRun: Page<RepositoryPersonContext, RunsDeps> = (context, deps) => {
  const { viewer, found, params } = context;
  return submitForm(
    async () => {
      await deps.ci.runs.remove(viewer, found, runPathNumber(params.number));
      return seeOther(withFlashMessage(`${repositoryUrl(found.canonical)}/runs`, 'run-removed'));
    },
    (refusal) => runPage(context, deps, refusal),
  );
};
