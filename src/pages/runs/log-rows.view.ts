import type { StepRow, StoredRow } from '../../ci/index.ts';
import { parseAnsi } from './ansi.ts';
import type { Segment } from './ansi.ts';
import { viewDuration } from './durations.ts';
import { viewStatus } from '../app/commit-state.view.ts';
import type { StatusView } from '../app/commit-state.view.ts';

/** One row of a log on a page. */
export interface LogRowView {
  /** From 1. */
  number: number;
  /** `10:31:07` in UTC. */
  time: string;
  kind: 'plain' | 'group' | 'error' | 'warning' | 'notice' | 'debug' | 'command';
  segments: Segment[];
}

/** Rows that begin with a command of the runner; what is left is shown in its manner. */
const commands: readonly [pattern: RegExp, kind: LogRowView['kind']][] = [
  [/^(?:::group::|##\[group\])/, 'group'],
  [/^(?:::error(?: [^:]*)?::|##\[error\])/, 'error'],
  [/^(?:::warning(?: [^:]*)?::|##\[warning\])/, 'warning'],
  [/^(?:::notice(?: [^:]*)?::|##\[notice\])/, 'notice'],
  [/^(?:::debug::|##\[debug\])/, 'debug'],
  [/^\[command\]/, 'command'],
];

/** The end of a group shows nothing. */
const groupEnd = /^(?:::endgroup::|##\[endgroup\])/;

/** Commands carry some characters in escapes; decoded once, and only there. */
function decode(text: string): string {
  return text.replace(/%(25|0D|0A)/gi, (_, code: string) => (code === '25' ? '%' : ' '));
}

export function viewLogRow({ at, content }: StoredRow, number: number): LogRowView {
  const time = new Date(at).toISOString().slice(11, 19);
  if (groupEnd.test(content)) return { number, time, kind: 'plain', segments: [] };
  for (const [pattern, kind] of commands) {
    if (pattern.test(content)) return { number, time, kind, segments: parseAnsi(decode(content.replace(pattern, ''))) };
  }
  return { number, time, kind: 'plain', segments: parseAnsi(content) };
}

/** Rows that belong together: those of one step, or those before the first and after the last. */
export interface LogSectionView {
  name: string;
  /** Null for what belongs to no step. */
  status: StatusView | null;
  duration: string | null;
  /** Number of its first row, from 0, and how many there are. */
  from: number;
  length: number;
  rows: LogRowView[];
}

interface Section {
  name: string;
  step: StepRow | null;
  from: number;
  length: number;
}

/** All sections of a log. Rows before the first step are its setting up, rows after the last its completion. */
function sectionsOf(given: readonly StepRow[], total: number): Section[] {
  const last = given.filter((step) => step.logLength > 0).at(-1);
  // A runner sends rows before it says whose they are.
  const steps = given.map((step) =>
    step === last && step.status === 'running' ? { ...step, logLength: total - step.logIndex } : step,
  );
  const placed = steps.filter((step) => step.logLength > 0);
  const first = placed.length === 0 ? total : Math.min(...placed.map((step) => step.logIndex));
  const end = Math.max(0, ...placed.map((step) => step.logIndex + step.logLength));
  return [
    ...(first > 0 || steps.length === 0
      ? [{ name: 'Set up job', step: null, from: 0, length: Math.min(first, total) }]
      : []),
    ...steps.map((step) => ({
      name: step.name,
      step,
      from: step.logIndex,
      length: Math.min(step.logLength, Math.max(0, total - step.logIndex)),
    })),
    ...(placed.length > 0 && end < total ? [{ name: 'Complete job', step: null, from: end, length: total - end }] : []),
  ];
}

/** The sections of a log, with rows in those that the window touches. */
export function viewLogSections(
  steps: readonly StepRow[],
  window: { from: number; rows: readonly StoredRow[]; total: number },
  now: number,
): LogSectionView[] {
  const end = window.from + window.rows.length;
  return sectionsOf(steps, window.total).map(({ name, step, from, length }) => {
    const start = Math.max(from, window.from);
    const rows = window.rows.slice(start - window.from, Math.max(start, Math.min(from + length, end)) - window.from);
    return {
      name,
      status: step === null ? null : viewStatus(step.status === 'waiting' ? 'blocked' : step.status),
      duration: step === null ? null : viewDuration(step.startedAt, step.stoppedAt, now),
      from,
      length,
      rows: rows.map((row, at) => viewLogRow(row, start + at + 1)),
    };
  });
}
