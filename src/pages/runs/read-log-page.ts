import { isFinal } from '../../ci/index.ts';
import type { JobRow, StepRow, TaskRow } from '../../ci/index.ts';
import { queryNumber } from '../../http/index.ts';
import { viewLogRow, viewLogRows } from './log-rows.view.ts';
import { positionInSection, positionOfRow, sectionsOf, viewSection } from './log-sections.view.ts';
import type { LogPosition, LogSection } from './log-sections.view.ts';
import type { RunsDeps } from './deps.ts';

/** Maximum number of rows on a page; a log of a million rows is read in windows. */
export const rowsPerPage = 500;
/** Maximum number of matches that a search lists; further ones are counted. */
const maxHits = 100;
const maxQuery = 256;
/** Rows that explain the failure of a job without annotations: the last ones of the step, up to its exit code. */
const tailRows = 8;

type Deps = Pick<RunsDeps, 'ci'>;

interface ShownLog {
  task: TaskRow;
  steps: readonly StepRow[];
  job: JobRow;
}

/**
 * The log part of a job's page. Query: `step`, the section to open; `row`, the row to open it at (from 0); `from`, the
 * first row of the window; `times`, shows the time of each row; `q`, the text to search for. By default: the end of a
 * running job, the first error of the failed step, or only the list of steps.
 */
export async function readLogPage(
  { ci }: Deps,
  { task, steps, job }: ShownLog,
  { query, url, now }: { query: URLSearchParams; url: string; now: number },
) {
  const isComplete = task.sealedAt !== null;
  const text = (query.get('q') ?? '').slice(0, maxQuery);
  const showsTimes = query.get('times') === '1';
  const { total } = await ci.logs.read(task.id, 0, 0);
  const sections = sectionsOf(steps, total);
  const place = positionFrom(sections, query) ?? (await likelyPlace({ ci }, { task, steps, job }, sections));
  const address = addressOf(url, { q: text, times: showsTimes ? '1' : '' });
  const shown = place === null ? null : await readPlace({ ci }, task.id, place, !isComplete, address);
  const at = place?.target ?? place?.from ?? 0;
  const [previous, next, matches, counts] = await Promise.all([
    ci.logs.find(task.id, ['error'], at, -1),
    ci.logs.find(task.id, ['error'], place?.target === null || place === null ? at : at + 1),
    text === '' ? null : ci.logs.search(task.id, text, maxHits),
    Promise.all(sections.map(({ from, length }) => ci.logs.count(task.id, from, from + length))),
  ]);
  const rowUrl = (row: number): string => `${address({ row: String(row) })}#L${row + 1}`;
  return {
    sections: sections.map((section, index) => ({
      ...viewSection(section, counts[index]!, now),
      url: `${address({ step: section.id })}#${section.id}`,
      window: section === place?.section ? shown : null,
    })),
    errors: counts.reduce((sum, { errors }) => sum + errors, 0),
    previousError: previous === null ? null : rowUrl(previous),
    nextError: next === null ? null : rowUrl(next),
    endUrl: total === 0 ? null : `${address({ row: String(total - 1) })}#L${total}`,
    timesUrl: addressOf(url, { q: text, times: showsTimes ? '' : '1' })(
      Object.fromEntries(
        ['step', 'row', 'from'].flatMap((name) => (query.has(name) ? [[name, query.get(name)!]] : [])),
      ),
    ),
    showsTimes,
    query: text,
    matches: matches && {
      count: matches.count,
      isCut: matches.isCut,
      rows: matches.hits.map((hit) => ({ ...viewLogRow(hit, hit.number + 1), url: rowUrl(hit.number) })),
    },
    tail: await tailOfFailure({ ci }, { task, steps, job }, sections, rowUrl),
    total,
    end: place === null ? total : place.from + (shown?.count ?? 0),
    isComplete,
  };
}

/** URLs of a job's page that keep some parameters. */
function addressOf(url: string, kept: Readonly<Record<string, string>>) {
  return (more: Readonly<Record<string, string>> = {}): string => {
    const all = new URLSearchParams(Object.entries({ ...kept, ...more }).filter(([, value]) => value !== ''));
    return all.size === 0 ? url : `${url}?${all.toString()}`;
  };
}

/** The rows that the URL requests; null without a request, or for missing rows. */
function positionFrom(sections: readonly LogSection[], query: URLSearchParams): LogPosition | null {
  const row = queryNumber(query, 'row');
  if (row !== undefined) return positionOfRow(sections, row, rowsPerPage);
  const from = queryNumber(query, 'from');
  const section =
    from === undefined
      ? sections.find(({ id }) => id === query.get('step'))
      : sections.find((one) => from >= one.from && from < one.from + one.length);
  if (section === undefined) return null;
  if (from === undefined) return positionInSection(section, 'first', rowsPerPage);
  return { section, from, count: Math.min(rowsPerPage, section.from + section.length - from), target: null };
}

/** The end of a running job, else the first error of the failed step, else nothing. */
async function likelyPlace(
  { ci }: Deps,
  { task, steps, job }: ShownLog,
  sections: readonly LogSection[],
): Promise<LogPosition | null> {
  const last = sections.findLast(({ length }) => length > 0) ?? sections[0];
  if (last === undefined) return null;
  if (!isFinal(job.status)) return positionInSection(last, 'last', rowsPerPage);
  if (job.status === 'success' || job.status === 'skipped')
    return steps.length === 0 ? positionInSection(last, 'last', rowsPerPage) : null;
  const failed = sections.find(({ step, length }) => step?.status === 'failure' && length > 0);
  // A job whose runner was lost has no failed step.
  if (failed === undefined) return positionInSection(last, 'last', rowsPerPage);
  const error = await ci.logs.find(task.id, ['error'], failed.from);
  if (error !== null && error < failed.from + failed.length) return positionOfRow(sections, error, rowsPerPage);
  return positionInSection(failed, 'last', rowsPerPage);
}

async function readPlace(
  { ci }: Deps,
  taskId: number,
  { section, from, count, target }: LogPosition,
  isGrowing: boolean,
  address: ReturnType<typeof addressOf>,
) {
  const { rows } = await ci.logs.read(taskId, from, count);
  const group = await ci.logs.groupOf(taskId, from);
  const outer = group === null || group < section.from ? null : (await ci.logs.read(taskId, group, 1)).rows[0]!;
  const end = from + rows.length;
  const last = section.from + section.length;
  const link = (first: number) => ({ url: `${address({ from: String(first) })}#L${first + 1}`, first: first + 1 });
  const earlier = Math.max(section.from, from - rowsPerPage);
  return {
    items: viewLogRows(
      rows.map((row, index) => viewLogRow(row, from + index + 1, target)),
      { outer: outer && viewLogRow(outer, group! + 1), isOpenAtEnd: isGrowing && end === last },
    ),
    count: rows.length,
    earlier: from > section.from ? { ...link(earlier), last: from } : null,
    later: end < last ? { ...link(end), last: Math.min(last, end + rowsPerPage) } : null,
    /** The page updates itself only when it shows the end of a growing log. */
    follows: isGrowing && end === last,
  };
}

/** The last rows of the failed step, for a job without an annotation. */
async function tailOfFailure(
  { ci }: Deps,
  { task, job }: ShownLog,
  sections: readonly LogSection[],
  rowUrl: (row: number) => string,
) {
  if (job.status !== 'failure') return null;
  const failed =
    sections.find(({ step, length }) => step?.status === 'failure' && length > 0) ??
    sections.findLast(({ length }) => length > 0);
  if (failed === undefined) return null;
  const from = Math.max(failed.from, failed.from + failed.length - 4 * tailRows);
  const { rows } = await ci.logs.read(task.id, from, failed.from + failed.length - from);
  const views = rows
    .map((row, index) => ({ ...viewLogRow(row, from + index + 1), url: rowUrl(from + index) }))
    .filter(({ segments }) => segments.some(({ text }) => text.trim() !== ''))
    .slice(-tailRows);
  return views.length === 0 ? null : { step: failed.name, rows: views };
}

/** The end of the log of a failed job, for the page of its run; null when the log was deleted. */
export async function readFailure(
  { ci }: Deps,
  shown: ShownLog,
  url: string,
): Promise<Awaited<ReturnType<typeof tailOfFailure>>> {
  if (shown.task.logRemovedAt !== null) return null;
  const { total } = await ci.logs.read(shown.task.id, 0, 0);
  return tailOfFailure({ ci }, shown, sectionsOf(shown.steps, total), (row) => `${url}?row=${row}#L${row + 1}`);
}
