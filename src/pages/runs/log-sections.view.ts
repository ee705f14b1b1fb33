import type { StepRow } from '../../ci/index.ts';
import { t } from '../../translation/index.ts';
import { viewStatus } from '../app/commit-state.view.ts';
import type { StatusView } from '../app/commit-state.view.ts';
import { viewDuration } from './durations.ts';

/** Related rows: those of one step, or those before the first and after the last. */
export interface LogSection {
  /** Name in the URL: `step-2`, `setup`, `complete`. */
  id: string;
  name: string;
  /** Null for a section outside of steps. */
  step: StepRow | null;
  /** Number of its first row, from 0, and number of rows. */
  from: number;
  length: number;
}

/** All sections of a log. Rows before the first step are its setup, rows after the last its completion. */
export function sectionsOf(given: readonly StepRow[], total: number): LogSection[] {
  const last = given.filter((step) => step.logLength > 0).at(-1);
  // A runner sends rows before it assigns them to a step.
  const steps = given.map((step) =>
    step === last && step.status === 'running' ? { ...step, logLength: Math.max(0, total - step.logIndex) } : step,
  );
  const placed = steps.filter((step) => step.logLength > 0);
  const first = placed.length === 0 ? total : Math.min(...placed.map((step) => step.logIndex));
  const end = Math.max(0, ...placed.map((step) => step.logIndex + step.logLength));
  return [
    ...(first > 0 || placed.length === 0
      ? [{ id: 'setup', name: t('runs.log_sections.set_up_job'), step: null, from: 0, length: Math.min(first, total) }]
      : []),
    ...steps.map((step) => ({
      id: `step-${step.position + 1}`,
      name: step.name,
      step,
      from: step.logIndex,
      length: Math.min(step.logLength, Math.max(0, total - step.logIndex)),
    })),
    ...(placed.length > 0 && end < total
      ? [{ id: 'complete', name: t('runs.log_sections.complete_job'), step: null, from: end, length: total - end }]
      : []),
  ];
}

/** The rows on a page: a window of one section. */
export interface LogPosition {
  section: LogSection;
  from: number;
  count: number;
  /** The row that the URL selects or that readers most likely look for, from 0; null for none. */
  target: number | null;
}

/** Number of rows shown above the selected row. */
const rowsBefore = 10;

/** A window around a row, within its section; null when no section contains it. */
export function positionOfRow(sections: readonly LogSection[], row: number, rowsPerPage: number): LogPosition | null {
  const section = sections.find(({ from, length }) => row >= from && row < from + length);
  if (section === undefined) return null;
  const from = Math.max(section.from, row - rowsBefore);
  return { section, from, count: Math.min(rowsPerPage, section.from + section.length - from), target: row };
}

/** The first or the last rows of a section. */
export function positionInSection(section: LogSection, end: 'first' | 'last', rowsPerPage: number): LogPosition {
  const from = end === 'first' ? section.from : Math.max(section.from, section.from + section.length - rowsPerPage);
  return { section, from, count: Math.min(rowsPerPage, section.from + section.length - from), target: null };
}

/** A section for display, with or without rows. */
interface SectionView {
  id: string;
  name: string;
  status: StatusView | null;
  duration: string | null;
  length: number;
  /** Numbers of its first and last row, from 1; the last is smaller than the first without rows. */
  first: number;
  last: number;
  errors: number;
  warnings: number;
}

export function viewSection(
  { id, name, step, from, length }: LogSection,
  { errors, warnings }: { errors: number; warnings: number },
  now: number,
): SectionView {
  return {
    id,
    name,
    status: step === null ? null : viewStatus(step.status === 'waiting' ? 'blocked' : step.status),
    duration: step === null ? null : viewDuration(step.startedAt, step.stoppedAt, now),
    length,
    first: from + 1,
    last: from + length,
    errors,
    warnings,
  };
}
