import { logTopic } from '../notifier-topics.ts';
import type { CiDeps } from '../deps.ts';
import { taskSchema } from '../schema/task-schema.ts';
import type { AnnotationLevel } from '../log-command.ts';
import type { LogReader } from '../log-storage/log-file.ts';
import { rowsPerBlock } from '../log-storage/log-index.ts';
import { readRow } from '../log-storage/row-buffer.ts';
import type { StoredRow } from '../log-storage/row-buffer.ts';

type Deps = Pick<CiDeps, 'logs' | 'db' | 'notifier'>;

/** Rows of a log with the number of the first row and the total. */
interface LogWindow {
  from: number;
  rows: StoredRow[];
  total: number;
}

/** Limit of rows per request; more than a page shows. */
const maxWindow = 5_000;

/** Returns rows of a log. The caller checks access. */
export async function readLog({ logs }: Deps, taskId: number, from: number, count: number): Promise<LogWindow> {
  return windowOf(await logs.log(taskId), from, count);
}

async function windowOf(log: LogReader, from: number, count: number): Promise<LogWindow> {
  // Taken before the read: rows added during it belong to the next window.
  const total = log.rows;
  const start = Math.max(0, Math.min(from, total));
  const lines = await log.read(start, Math.min(count, maxWindow, total - start));
  return { from: start, rows: lines.map(readRow), total };
}

/** The stored text of a log from a row on. */
export async function* rawLog({ logs }: Deps, taskId: number, from = 0): AsyncGenerator<Buffer> {
  const log = await logs.log(taskId);
  if (from >= log.rows) return;
  let skip = from % rowsPerBlock;
  for await (const chunk of log.chunks(from)) {
    let start = 0;
    for (; skip > 0 && start < chunk.length; skip -= 1) start = chunk.indexOf(0x0a, start) + 1;
    if (start < chunk.length) yield chunk.subarray(start);
  }
}

/** Finds the nearest row with an annotation of some level, from a row on or before it; null if there is none. */
export async function findInLog(
  { logs }: Deps,
  taskId: number,
  levels: readonly AnnotationLevel[],
  from: number,
  direction: 1 | -1 = 1,
): Promise<number | null> {
  return (await logs.log(taskId)).findAnnotation(levels, from, direction);
}

/** Number of errors and of warnings in a range of rows; its end is exclusive. */
export async function countInLog(
  { logs }: Deps,
  taskId: number,
  from: number,
  to: number,
): Promise<{ errors: number; warnings: number }> {
  const log = await logs.log(taskId);
  return {
    errors: await log.countAnnotations('error', from, to),
    warnings: await log.countAnnotations('warning', from, to),
  };
}

/** First row of the group that contains a row; null outside of groups. */
export async function groupInLog({ logs }: Deps, taskId: number, row: number): Promise<number | null> {
  return (await logs.log(taskId)).groupOf(row);
}

/** New rows, or the end of the log. */
interface LogUpdate extends LogWindow {
  /** Whether the log is complete; then this is the last message. */
  isComplete: boolean;
}

const rowsAtOnce = 1_000;
/**
 * Poll interval of a follower that gets no notification: the sweep completes logs of lost runners without one, and a
 * command beside the server gets none. One second still counts as "live".
 */
const pollMs = 1_000;

interface FollowOptions {
  /**
   * Source of the number of rows. `writer`: the log in the process that writes it, whose counters a follower only
   * reads. `disk`: the polled file, for a command beside the server.
   */
  source?: 'writer' | 'disk';
}

/** Follows a log from a row on until it is complete or the follower disconnects. */
export async function* followLog(
  deps: Deps,
  taskId: number,
  from: number,
  signal: AbortSignal,
  { source = 'writer' }: FollowOptions = {},
): AsyncGenerator<LogUpdate> {
  const view = source === 'disk' ? await deps.logs.view(taskId) : null;
  for (let next = from; !signal.aborted; ) {
    // Reads the completion mark before counting, so that the counted rows of a complete log are all of them.
    const task = await deps.db.read.findOneBy(taskSchema, { id: taskId });
    const isComplete = task === null || task.sealedAt !== null;
    await view?.refresh();
    const log = view ?? (await deps.logs.log(taskId));
    const window = await windowOf(log, next, rowsAtOnce);
    next = window.from + window.rows.length;
    const isLast = isComplete && next >= window.total;
    if (window.rows.length > 0 || isLast) yield { ...window, isComplete: isLast };
    if (isLast) return;
    // If rows are counted but unreadable, the file was removed.
    const isGone = window.rows.length === 0 && next < window.total;
    if (isGone || next >= log.rows) await deps.notifier.wait(logTopic(taskId), { signal, timeoutMs: pollMs });
  }
}
