import { logTopic } from '../notifier-topics.ts';
import type { CiDeps } from '../deps.ts';
import { taskSchema } from '../schema/task-schema.ts';
import { rowsPerMark } from './log-file.ts';
import type { LogReader } from './log-file.ts';
import { readRow } from './row-buffer.ts';
import type { StoredRow } from './row-buffer.ts';

type Deps = Pick<CiDeps, 'logs' | 'db' | 'notifier'>;

/** Rows of a log, with the number of the first row and the total. */
export interface LogWindow {
  from: number;
  rows: StoredRow[];
  total: number;
}

/** Limit of rows per request; more than a page shows. */
const maxWindow = 5_000;

/** Rows of a log. The caller checks access. */
export async function readLog({ logs }: Deps, taskId: number, from: number, count: number): Promise<LogWindow> {
  return windowOf(await logs.log(taskId), from, count);
}

async function windowOf(log: LogReader, from: number, count: number): Promise<LogWindow> {
  // Before the read: rows that are added meanwhile belong to the next window.
  const total = log.rows;
  const start = Math.max(0, Math.min(from, total));
  const lines = await log.read(start, Math.min(count, maxWindow, total - start));
  return { from: start, rows: lines.map(readRow), total };
}

/** A log as it is stored, starting at a row. */
export async function* rawLog({ logs }: Deps, taskId: number, from = 0): AsyncGenerator<Buffer> {
  const log = await logs.log(taskId);
  if (from >= log.rows) return;
  let skip = from % rowsPerMark;
  for await (const chunk of log.chunks(from)) {
    let start = 0;
    for (; skip > 0 && start < chunk.length; skip -= 1) start = chunk.indexOf(0x0a, start) + 1;
    if (start < chunk.length) yield chunk.subarray(start);
  }
}

/** A row that matches a search. */
export interface LogHit extends StoredRow {
  /** Row number, from 0. */
  number: number;
}

/** The first rows that contain a text, ignoring case. */
export async function searchLog({ logs }: Deps, taskId: number, text: string, limit: number): Promise<LogHit[]> {
  const hits: LogHit[] = [];
  const wanted = text.toLowerCase();
  let number = 0;
  for await (const chunk of (await logs.log(taskId)).chunks()) {
    for (const line of chunk.toString('utf8').slice(0, -1).split('\n')) {
      const row = readRow(line);
      if (row.content.toLowerCase().includes(wanted)) hits.push({ ...row, number });
      number += 1;
      if (hits.length === limit) return hits;
    }
  }
  return hits;
}

/** New rows, or the end of the log. */
export interface LogUpdate extends LogWindow {
  /** The log is complete; this is the last message. */
  isComplete: boolean;
}

const rowsAtOnce = 1_000;
/**
 * Poll interval of a follower without a notification: the sweep completes logs of lost runners without notifying, and
 * a command beside the server gets none. A second still counts as "live".
 */
const pollMs = 1_000;

export interface FollowOptions {
  /**
   * Where the number of rows comes from. `writer`: the log as this process writes it, whose counters a follower only
   * reads. `disk`: the file, polled, for a command beside the server.
   */
  source?: 'writer' | 'disk';
}

/** Follows a log from a row on, until it is complete or the follower leaves. */
export async function* followLog(
  deps: Deps,
  taskId: number,
  from: number,
  signal: AbortSignal,
  { source = 'writer' }: FollowOptions = {},
): AsyncGenerator<LogUpdate> {
  const view = source === 'disk' ? await deps.logs.view(taskId) : null;
  for (let next = from; !signal.aborted; ) {
    // Reads the completion mark first: rows that are counted after it are the whole log.
    const task = await deps.db.read.findOneBy(taskSchema, { id: taskId });
    const isComplete = task === null || task.sealedAt !== null;
    await view?.refresh();
    const log = view ?? (await deps.logs.log(taskId));
    const window = await windowOf(log, next, rowsAtOnce);
    next = window.from + window.rows.length;
    const isLast = isComplete && next >= window.total;
    if (window.rows.length > 0 || isLast) yield { ...window, isComplete: isLast };
    if (isLast) return;
    // Rows that are counted but cannot be read belong to a removed file.
    const isGone = window.rows.length === 0 && next < window.total;
    if (isGone || next >= log.rows) await deps.notifier.wait(logTopic(taskId), { signal, timeoutMs: pollMs });
  }
}
