import type { ComparedJob, RunRow, StepRow, Timeline } from '../../ci/index.ts';
import { queryNumber, runPathNumber } from '../../http/index.ts';
import { formatDuration } from '../../kernel/index.ts';
import { t } from '../../translation/index.ts';
import { viewStatus } from '../app/commit-state.view.ts';
import type { StatusView } from '../app/commit-state.view.ts';
import { viewName } from '../app/printable-names.ts';
import { page } from '../app/reply.ts';
import { viewRepositoryHeader } from '../app/repository-header.view.ts';
import type { Page, RepositoryContext } from '../app/request-context.ts';
import type { RunsDeps } from './deps.ts';
import { runUrl } from './run-row.view.ts';

/** Width of the axis in units of the drawing. */
const axis = 1_000;
/** A run with more jobs and steps is shown without its steps. */
const maxRows = 1_000;

interface BarView {
  kind: 'wait' | 'run';
  x: number;
  width: number;
}

interface TimelineRow {
  isJob: boolean;
  name: string;
  url: string | null;
  status: StatusView;
  waited: string | null;
  begin: string | null;
  took: string | null;
  bars: BarView[];
  /** Of a job that an earlier attempt ran. */
  attempt: number | null;
}

type Span = NonNullable<Timeline['jobs'][number]['ran']>;

const lengthOf = (span: Span | null): string | null => (span === null ? null : formatDuration(span.toMs - span.fromMs));

/**
 * One attempt of a run on a time axis, and its durations beside those of another run. Query: `attempt`; `with`, the
 * number of the other run, by default the one before on the same branch.
 */
export const showTimeline: Page<RepositoryContext, RunsDeps> = async ({ found, params, query }, { ci }) => {
  const timeline = await ci.timings.timeline(found, runPathNumber(params.number), queryNumber(query, 'attempt'));
  const { run, attempt, jobs, lengthMs } = timeline;
  const asked = queryNumber(query, 'with');
  const other = asked ?? (await ci.timings.before(run))?.number ?? null;
  const compared = other === null ? null : await ci.timings.compare(found, run.number, other);
  const head = viewRepositoryHeader(found);
  const url = runUrl(head.url, run.number);
  const hasSteps = jobs.reduce((sum, { steps }) => sum + 1 + steps.length, 0) <= maxRows;
  return page('runs/timeline', {
    repository: head,
    run: { number: run.number, url, workflow: viewName(run.workflowName) },
    attempt: run.attempt > 1 ? attempt : null,
    length: formatDuration(lengthMs),
    hasSteps,
    rows: rowsOf(timeline, url, hasSteps),
    compared: compared && viewComparison(compared, head.url),
    other,
  });
};

function rowsOf({ jobs, attempt, lengthMs }: Timeline, url: string, hasSteps: boolean): TimelineRow[] {
  const barOf = (kind: BarView['kind'], span: Span | null): BarView[] => {
    if (span === null || (kind === 'wait' && span.toMs === span.fromMs)) return [];
    const scale = axis / Math.max(1, lengthMs);
    const x = Math.min(axis - 2, Math.round(span.fromMs * scale));
    return [{ kind, x, width: Math.max(2, Math.round((span.toMs - span.fromMs) * scale)) }];
  };
  return jobs.flatMap(({ job, attempt: ofAttempt, waited, ran, steps }): TimelineRow[] => [
    {
      isJob: true,
      name: viewName(job.name),
      url: `${url}/jobs/${job.id}`,
      status: viewStatus(job.status),
      waited: lengthOf(waited),
      begin: ran === null ? null : formatDuration(ran.fromMs),
      took: lengthOf(ran),
      bars: [...barOf('wait', waited), ...barOf('run', ran)],
      attempt: ofAttempt === attempt ? null : ofAttempt,
    },
    ...(hasSteps ? steps : []).map(({ name, status, span }) => ({
      isJob: false,
      name: viewName(name),
      url: null,
      status: viewStatus(status satisfies StepRow['status']),
      waited: null,
      begin: span === null ? null : formatDuration(span.fromMs),
      took: lengthOf(span),
      bars: barOf('run', span),
      attempt: null,
    })),
  ]);
}

function viewComparison(
  { before, after, jobs }: { before: RunRow; after: RunRow; jobs: readonly ComparedJob[] },
  repositoryUrl: string,
) {
  const row = ({ name, beforeMs, afterMs }: Omit<ComparedJob, 'steps'>, isJob: boolean) => ({
    isJob,
    name: viewName(name),
    before: beforeMs === null ? null : formatDuration(beforeMs),
    after: afterMs === null ? null : formatDuration(afterMs),
    change: changeOf(beforeMs, afterMs),
  });
  return {
    before: { number: before.number, url: runUrl(repositoryUrl, before.number) },
    after: { number: after.number },
    rows: jobs.flatMap((job) => [row(job, true), ...job.steps.map((step) => row(step, false))]).slice(0, maxRows),
  };
}

/** `+12 s`, `−3 s`; whole seconds, as they are shown. */
function changeOf(before: number | null, after: number | null): { text: string; tone: string } | null {
  if (before === null || after === null) return null;
  const seconds = Math.round(after / 1000) - Math.round(before / 1000);
  if (seconds === 0) return { text: t('runs.timeline.no_change'), tone: 'idle' };
  const text = formatDuration(Math.abs(seconds) * 1000);
  return seconds > 0 ? { text: `+${text}`, tone: 'bad' } : { text: `−${text}`, tone: 'good' };
}
