import type { Command } from 'commander';
import type { JobRow } from '../../ci/index.ts';
import { invalid, notFound } from '../../kernel/index.ts';

/** The two arguments that identify a run. */
export function withRun(command: Command): Command {
  return command.argument('<owner/name>', 'repository').argument('<number>', 'run number');
}

/** Parses the number of a run, as pages and lists show it. Throws `usage`. */
export function readNumber(text: string, what = 'Enter a run number, as shown by hearth run list.'): number {
  if (!/^[1-9]\d{0,14}$/.test(text)) throw invalid('usage', what);
  return Number(text);
}

/** Finds a job by number or name. Throws `job_not_found`. */
export function findJob(jobs: readonly JobRow[], text: string): JobRow {
  const job =
    jobs.find(({ id }) => String(id) === text) ??
    jobs.find(({ name }) => name === text) ??
    jobs.find(({ jobKey }) => jobKey === text);
  if (job === undefined)
    throw notFound(
      'job_not_found',
      `This run does not have the job ${text}. Its jobs: ${jobs.map(({ name }) => name).join(', ') || 'none'}.`,
    );
  return job;
}
