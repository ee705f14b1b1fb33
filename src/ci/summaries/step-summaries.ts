import { In } from 'typeorm';
import { invalid, notFound } from '../../kernel/index.ts';
import type { RunningTask } from '../artifacts/authorise-task.ts';
import type { CiDeps } from '../deps.ts';
import { summarySchema } from '../schema/annotation-schema.ts';
import type { SummaryRow } from '../schema/annotation-schema.ts';
import { runTopic } from '../notifier-topics.ts';
import { jobSchema } from '../schema/job-schema.ts';

/** Size limit of the summary of one step in bytes: runners truncate at 1 MiB, as GitHub does. */
export const maxSummaryBytes = 1024 * 1024;
/** Limit of steps with a summary per job, as on GitHub. */
const maxSummaries = 20;
/** Limit of summaries on the page of a run. */
const maxListed = 100;

/**
 * Stores the summary of a step of a running task, replacing an earlier one. Throws `task_not_found` for another job,
 * `step_not_found`, `summary_not_text`, `too_many_summaries`.
 */
export async function setSummary(
  { db, notifier, runs }: Pick<CiDeps, 'db' | 'notifier' | 'runs'>,
  { taskId, jobId, run }: RunningTask,
  { job, step, content }: { job: number; step: number; content: Buffer },
): Promise<void> {
  if (job !== jobId) throw notFound('task_not_found', 'There is no such task.');
  const text = readText(content);
  // A runner may send the summaries of a short job before it reports its steps.
  const { jobKey } = await db.read.findOneByOrFail(jobSchema, { id: jobId });
  const { parsed } = await runs.load(run.id);
  const stepCount = parsed.ok ? (parsed.workflow.jobs.get(jobKey)?.stepNames.length ?? 0) : 0;
  if (step >= stepCount) throw notFound('step_not_found', 'The job has no such step.');
  await db.write(async ({ manager }) => {
    const others = await manager.find(summarySchema, { where: { taskId }, select: { step: true } });
    if (!others.some((one) => one.step === step) && others.length >= maxSummaries)
      throw invalid('too_many_summaries', `At most ${maxSummaries} steps of a job have a summary.`);
    await manager.upsert(summarySchema, { taskId, step, content: text }, ['taskId', 'step']);
  });
  notifier.notify(runTopic(run.id));
}

function readText(content: Buffer): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(content).replaceAll('\0', '');
  } catch {
    throw invalid('summary_not_text', 'The summary is not valid UTF-8.');
  }
}

/** The summaries of some tasks, by task and step. */
export function summariesOf({ db }: Pick<CiDeps, 'db'>, taskIds: readonly number[]): Promise<SummaryRow[]> {
  if (taskIds.length === 0) return Promise.resolve([]);
  return db.read.find(summarySchema, {
    where: { taskId: In([...taskIds]) },
    order: { taskId: 'ASC', step: 'ASC' },
    take: maxListed,
  });
}
