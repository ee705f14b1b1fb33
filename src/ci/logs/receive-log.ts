import { conflict, createLru, invalid, notFound } from '../../kernel/index.ts';
import type { RunnerRow } from '../schema/runner-schema.ts';
import { jobSchema } from '../schema/job-schema.ts';
import { runSchema } from '../schema/run-schema.ts';
import { logTopic } from '../topics.ts';
import type { CiDeps } from '../deps.ts';
import { valuesToHide } from '../secrets/secrets.ts';
import { taskSchema } from '../schema/task-schema.ts';
import type { TaskRow } from '../schema/task-schema.ts';
import { runtimeTokenOf } from '../tasks/runtime-token.ts';
import { taskToken } from '../tasks/task-token.ts';
import type { LogFile } from './log-file.ts';
import { createMask } from './mask.ts';
import type { Mask } from './mask.ts';
import type { RowBuffer } from './row-buffer.ts';
import { formatRow } from './row-format.ts';

/** Rows that a runner hands over. */
export interface IncomingLog {
  taskId: number;
  /** Number of the first row. */
  index: number;
  rows: RowBuffer;
  /** No more rows will come. */
  noMore: boolean;
}

/**
 * Takes rows of a log. Only what is on disk is acknowledged, and no row is stored
 * twice: repeats and overlaps are passed over, and after a gap nothing is taken, so
 * that the runner sends again from where the log ends.
 * @returns how many rows the log has, those beyond its largest size included, and never
 * more than the end of what was sent
 * Refuses `negative_log_index`, `task_not_found` (also for another runner's),
 * `log_sealed` for new rows of a complete log.
 */
export async function receiveLog(
  deps: CiDeps,
  masks: Masks,
  runner: Pick<RunnerRow, 'id'>,
  incoming: IncomingLog,
): Promise<number> {
  const { taskId, index, rows, noMore } = incoming;
  if (index < 0) throw invalid('negative_log_index', 'The index of a log row is not negative.');
  await rows.flush();
  return deps.logs.inTurn(taskId, async (log) => {
    const task = await deps.db.read.findOneBy(taskSchema, { id: taskId, runnerId: runner.id });
    if (task === null) throw notFound('task_not_found', 'There is no such task.');
    await restoreLostRows(log, task);
    const known = log.rows + task.logDropped;
    const hasNew = rows.count > 0 && index + rows.count > known;
    if (task.sealedAt !== null) {
      if (hasNew) throw conflict('log_sealed', 'log file has been archived');
      return acknowledge(incoming, known);
    }
    if (index > known) return acknowledge(incoming, known);
    const dropped = hasNew ? await appendRows(deps, log, rows.from(known - index), await masks.of(deps, task)) : 0;
    await note(deps, task, log, { dropped, isComplete: noMore });
    if (hasNew || noMore) deps.notifier.notify(logTopic(taskId));
    const stored = log.rows + task.logDropped + dropped;
    // New rows end the log, so it ends where they do; all else is a fault of ours.
    if (hasNew && stored !== index + rows.count)
      deps.logger.error('log.miscounted', { taskId, stored, sent: index + rows.count });
    return acknowledge(incoming, stored);
  });
}

/**
 * The one place that says how far a runner may forget its rows. It cuts them off its buffer
 * without looking (`rows = rows[ack - offset:]`), so an acknowledgement beyond the end of
 * what it has sent ends the whole runner with a panic: never above `index + rows.count`.
 */
function acknowledge({ index, rows }: IncomingLog, stored: number): number {
  return Math.min(stored, index + rows.count);
}

/**
 * Stores rows up to the largest size of a log; answers how many had no place. The
 * notice that says so stands in the place of the first of them: a runner counts on
 * being told about exactly as many rows as it has sent.
 */
async function appendRows(deps: CiDeps, log: LogFile, pieces: AsyncIterable<Buffer>, mask: Mask): Promise<number> {
  let dropped = 0;
  for await (const piece of pieces) {
    if (log.bytes < deps.settings.maxLogBytes) await log.append(mask(piece));
    else dropped += countRows(piece);
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

function countRows(piece: Buffer): number {
  let rows = 0;
  for (let feed = piece.indexOf(0x0a); feed !== -1; feed = piece.indexOf(0x0a, feed + 1)) rows += 1;
  return rows;
}

/**
 * A runner that is told less than before believes its log lost and tries for ever.
 * Rows are synced before they are acknowledged, so this is for disks that lied.
 */
async function restoreLostRows(log: LogFile, task: TaskRow): Promise<void> {
  const missing = task.logRows - log.rows;
  if (missing <= 0) return;
  const line = formatRow(null, lostNotice);
  for (let left = missing; left > 0; left -= 1000) await log.append(Buffer.from(line.repeat(Math.min(left, 1000))));
  await log.sync();
}

/** What the database has to know of a log, which is little while it grows. */
async function note(
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

/** The masks of tasks that send rows now; secrets are read once for each. */
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
      mask = createMask([taskToken(key, task.id), runtimeTokenOf(deps, task, job), ...secrets]);
      this.#masks.set(task.id, mask);
    }
    return mask;
  }
}
