import { collectAnnotations } from './collect-annotations.ts';
import { conflict, createLru, invalid, isDomainError, notFound } from '../../kernel/index.ts';
import type { RunnerRow } from '../schema/runner-schema.ts';
import { jobSchema } from '../schema/job-schema.ts';
import { runSchema } from '../schema/run-schema.ts';
import { logTopic } from '../notifier-topics.ts';
import type { CiDeps } from '../deps.ts';
import { secretsOfJob } from '../environments/environment-values.ts';
import { valuesToHide } from '../secrets/secrets.ts';
import { taskSchema } from '../schema/task-schema.ts';
import type { TaskRow } from '../schema/task-schema.ts';
import { runtimeTokenOf } from '../tasks/runtime-token.ts';
import { taskToken } from '../tasks/task-token.ts';
import type { LogFile } from '../log-storage/log-file.ts';
import { createMask } from './mask.ts';
import type { Mask } from './mask.ts';
import type { RowBuffer } from '../log-storage/row-buffer.ts';
import { formatRow } from '../log-storage/row-buffer.ts';

/** Rows that a runner sends. */
export interface IncomingLog {
  taskId: number;
  /** Number of the first row. */
  index: number;
  rows: RowBuffer;
  /** True if no more rows will come. */
  noMore: boolean;
}

/**
 * Receives rows of a log. Acknowledges only durable rows and stores no row twice: repeats and overlaps are skipped, and
 * after a gap nothing is stored, so that the runner resends from the end of the log. Throws `negative_log_index`,
 * `task_not_found` (also for another runner's), `log_sealed` for new rows of a complete log.
 * @returns the number of rows of the log, including those dropped beyond its size limit, but never more than the end of
 *   the sent rows
 */
export async function receiveLog(
  deps: CiDeps,
  masks: Masks,
  runner: Pick<RunnerRow, 'id'>,
  incoming: IncomingLog,
): Promise<number> {
  const { index, rows } = incoming;
  if (index < 0) throw invalid('negative_log_index', 'The index of a log row must not be negative.');
  await rows.flush();
  return again(() => store(deps, masks, runner, incoming));
}

/** Retries when another node adds the same rows first, from a call that was interrupted. */
async function again<T>(work: () => Promise<T>): Promise<T> {
  for (let left = 4; ; left -= 1) {
    try {
      return await work();
    } catch (error) {
      if (left === 0 || !isDomainError(error) || error.reason !== 'log_moved') throw error;
    }
  }
}

function store(deps: CiDeps, masks: Masks, runner: Pick<RunnerRow, 'id'>, incoming: IncomingLog): Promise<number> {
  const { taskId, index, rows, noMore } = incoming;
  return deps.logs.withLock(taskId, async (log) => {
    const task = await deps.db.read.findOneBy(taskSchema, { id: taskId, runnerId: runner.id });
    if (task === null) throw notFound('task_not_found', 'There is no such task.');
    const isNew = (known: number): boolean => rows.count > 0 && index + rows.count > known;
    if (task.sealedAt !== null) {
      // Uses the count in the database, because the file of a complete log may be in the bucket.
      const sealed = Math.max(log.rows, task.logRows) + task.logDropped;
      if (isNew(sealed)) throw conflict('log_sealed', 'log file has been archived');
      return acknowledge(incoming, sealed);
    }
    await restoreLostRows(log, task);
    const known = log.rows + task.logDropped;
    const hasNew = isNew(known);
    if (index > known) return acknowledge(incoming, known);
    const dropped = hasNew ? await appendRows(deps, log, rows.from(known - index), await masks.of(deps, task)) : 0;
    await collectAnnotations(deps, task, log);
    await updateTask(deps, task, log, { dropped, isComplete: noMore });
    if (hasNew || noMore) deps.notifier.notify(logTopic(taskId));
    const stored = log.rows + task.logDropped + dropped;
    // New rows are at the end of the log, so both ends must be equal; anything else is a bug.
    if (hasNew && stored !== index + rows.count)
      deps.logger.error('log.miscounted', { taskId, stored, sent: index + rows.count });
    return acknowledge(incoming, stored);
  });
}

/**
 * The only place that acknowledges rows to a runner, which then drops them. A runner cuts its buffer unchecked (`rows =
 * rows[ack - offset:]`) and panics if the acknowledgement exceeds the sent rows; so it is never above `index +
 * rows.count`.
 */
function acknowledge({ index, rows }: IncomingLog, stored: number): number {
  return Math.min(stored, index + rows.count);
}

/**
 * Stores rows up to the size limit of a log. A notice replaces the first dropped row, because a runner expects an
 * acknowledgement of exactly as many rows as it has sent. Returns the number of dropped rows.
 */
async function appendRows(deps: CiDeps, log: LogFile, chunks: AsyncIterable<Buffer>, mask: Mask): Promise<number> {
  let dropped = 0;
  for await (const chunk of chunks) {
    if (log.bytes < deps.settings.maxLogBytes) await log.append(mask(chunk));
    else dropped += countRows(chunk);
  }
  if (dropped > 0 && !(await endsWithNotice(log))) {
    await log.append(Buffer.from(formatRow(timeOf(deps), fullNotice)));
    dropped -= 1;
  }
  await log.sync();
  return dropped;
}

async function endsWithNotice(log: LogFile): Promise<boolean> {
  return (await log.read(log.rows - 1, 1))[0]?.endsWith(fullNotice) === true;
}

const fullNotice = '[the log has reached its largest size; further lines are not kept]';
const lostNotice = '[log line lost in a server crash]';

const timeOf = ({ clock }: Pick<CiDeps, 'clock'>) => ({ seconds: BigInt(Math.floor(clock.now() / 1000)), nanos: 0 });

function countRows(chunk: Buffer): number {
  let rows = 0;
  for (let feed = chunk.indexOf(0x0a); feed !== -1; feed = chunk.indexOf(0x0a, feed + 1)) rows += 1;
  return rows;
}

/**
 * Fills in rows that the disk lost after a sync: a runner whose acknowledgement decreases believes its log lost and
 * retries forever.
 */
async function restoreLostRows(log: LogFile, task: TaskRow): Promise<void> {
  const missing = task.logRows - log.rows;
  if (missing <= 0) return;
  const line = formatRow(null, lostNotice);
  for (let left = missing; left > 0; left -= 1000) await log.append(Buffer.from(line.repeat(Math.min(left, 1000))));
  await log.sync();
}

/** Updates the row of the task; rarely necessary while the log grows. */
async function updateTask(
  deps: CiDeps,
  task: TaskRow,
  log: LogFile,
  { dropped, isComplete }: { dropped: number; isComplete: boolean },
): Promise<void> {
  if (dropped === 0 && !isComplete && task.confirmedAt !== null) return;
  await deps.db.write(({ manager, now }) =>
    manager.update(
      taskSchema,
      { id: task.id },
      {
        confirmedAt: task.confirmedAt ?? now,
        logRows: log.rows,
        logBytes: log.bytes,
        logDropped: task.logDropped + dropped,
        ...(isComplete ? { sealedAt: now } : {}),
      },
    ),
  );
}

/** Caches the masks of tasks that currently send rows, so that their secrets are read once. */
export class Masks {
  readonly #masks = createLru<number, Mask>({ name: 'log masks', maxWeight: 500 });

  async of(deps: CiDeps, task: TaskRow): Promise<Mask> {
    const { db, key, repositories } = deps;
    let mask = this.#masks.get(task.id);
    if (mask === undefined) {
      const job = await db.read.findOneByOrFail(jobSchema, { id: task.jobId });
      const run = await db.read.findOneByOrFail(runSchema, { id: job.runId });
      const located = (await repositories.locate([run.repositoryId])).get(run.repositoryId);
      const secrets =
        located === undefined || !run.isTrusted ? [] : await valuesToHide({ key }, db.read, located.repository);
      const ofEnvironment = (await secretsOfJob({ key }, db.read, job, run)).values();
      mask = createMask([taskToken(key, task.id), runtimeTokenOf(deps, task, job), ...secrets, ...ofEnvironment]);
      this.#masks.set(task.id, mask);
    }
    return mask;
  }
}
