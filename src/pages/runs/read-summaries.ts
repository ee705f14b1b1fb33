import type { JobRow } from '../../ci/index.ts';
import { t } from '../../translation/index.ts';
import { viewName } from '../app/printable-names.ts';
import type { RepositoryContext } from '../app/request-context.ts';
import { renderTexts } from '../markdown/render-text.ts';
import type { RenderedText } from '../markdown/render-text.ts';
import type { RunsDeps } from './deps.ts';

/** The content that a step wrote to `$GITHUB_STEP_SUMMARY`, for the page of its run. */
interface SummaryView {
  job: string;
  step: string;
  text: RenderedText;
}

/** The summaries of some jobs, in the order of the jobs and their steps; rendered like the Markdown of comments. */
export async function readSummaries(
  context: RepositoryContext,
  deps: RunsDeps,
  jobs: readonly JobRow[],
): Promise<SummaryView[]> {
  const taskIds = jobs.flatMap(({ taskId }) => taskId ?? []);
  const rows = await deps.ci.summaries.of(taskIds);
  if (rows.length === 0) return [];
  const { texts } = await renderTexts(
    context,
    deps,
    rows.map(({ content }) => ({ body: content })),
  );
  const names = await deps.ci.runs.stepNames(rows.map(({ taskId }) => taskId));
  const ordered = jobs.flatMap((job) =>
    rows.flatMap((row, at) => (row.taskId === job.taskId ? [{ job, row, at }] : [])),
  );
  return ordered.map(({ job, row, at }) => ({
    job: viewName(job.name),
    step: viewName(
      names.get(`${row.taskId} ${row.step}`) ?? t('runs.read_summaries.step_step', { step: row.step + 1 }),
    ),
    text: texts[at]!,
  }));
}
