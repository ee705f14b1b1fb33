import { allows } from '../../access/index.ts';
import { isFinal } from '../../ci/index.ts';
import type { JobRow, RunRow } from '../../ci/index.ts';
import type { Found } from '../../repositories/index.ts';
import { t } from '../../translation/index.ts';
import { viewName } from '../app/printable-names.ts';

/** A rerun that the viewer may start: the value of the field `jobs`, and the label of its button. */
interface RerunView {
  choices: { value: string; label: string }[];
}

/** Null for viewers who may not rerun anything. @param job the job of the page; null on the page of the run */
export function viewRerun(
  run: RunRow,
  jobs: readonly JobRow[],
  found: Pick<Found, 'level' | 'repository'>,
  job: JobRow | null = null,
): RerunView | null {
  if (!allows(found.level, 'write') || found.repository.archivedAt !== null || run.approval === 'waiting') return null;
  const hasFailed = jobs.some(({ status }) => status === 'failure' || status === 'cancelled');
  const isNewest = jobs.every(({ attempt }) => attempt === run.attempt);
  const choices = [
    ...(job !== null && isNewest && isFinal(job.status)
      ? [{ value: String(job.id), label: t('runs.rerun.re_run_name', { name: viewName(job.name) }) }]
      : []),
    ...(hasFailed ? [{ value: 'failed', label: t('runs.rerun.re_run_failed_jobs') }] : []),
    ...(isFinal(run.status) ? [{ value: 'all', label: t('runs.rerun.re_run_all_jobs') }] : []),
  ];
  return choices.length === 0 ? null : { choices };
}
