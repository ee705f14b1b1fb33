import { logTopic } from '../topics.ts';
import type { CiDeps } from '../deps.ts';
import { taskSchema } from '../schema/task-schema.ts';
import { rowsPerMark } from './log-reader.ts';
import type { LogReader } from './log-reader.ts';
import { readRow } from './row-format.ts';
import type { StoredRow } from './row-format.ts';

type Room = Pick<CiDeps, 'logs' | 'db' | 'notifier'>;

/** Rows of a log, with the number of the first and of all. */
export interface LogWindow {
  from: number;
  rows: StoredRow[];
  total: number;
}

/** Rows asked for at once; more than a page shows. */
const maxWindow = 5_000;

/** A part of a log. The caller has asked for the right to read it. */
export async function readLog({ logs }: Room, taskId: number, from: number, count: number): Promise<LogWindow> {
  return windowOf(await logs.log(taskId), from, count);
}

async function windowOf(log: LogReader, from: number, count: number): Promise<LogWindow> {
  // Before the read: rows that are added meanwhile are the next window's.
  const total = log.rows;
  const start = Math.max(0, Math.min(from, total));
  const lines = await log.read(start, Math.min(count, maxWindow, total - start));
  return { from: start, rows: lines.map(readRow), total };
}

/** A log as it is stored, from a row on. */
export async function* rawLog({ logs }: Room, taskId: number, from = 0): AsyncGenerator<Buffer> {
  const log = await logs.log(taskId);
  if (from >= log.rows) return;
  let skip = from % rowsPerMark;
  for await (const piece of log.pieces(from)) {
    let start = 0;
    for (; skip > 0 && start < piece.length; skip -= 1) start = piece.indexOf(0x0a, start) + 1;
    if (start < piece.length) yield piece.subarray(start);
  }
}

/** A row that holds what was looked for. */
export interface LogHit extends StoredRow {
  /** From 0. */
  number: number;
}

/** The first rows that hold a text, without regard to case. */
export async function searchLog({ logs }: Room, taskId: number, text: string, limit: number): Promise<LogHit[]> {
  const hits: LogHit[] = [];
  const wanted = text.toLowerCase();
  let number = 0;
  for await (const piece of (await logs.log(taskId)).pieces()) {
    for (const line of piece.toString('utf8').slice(0, -1).split('\n')) {
      const row = readRow(line);
      if (row.content.toLowerCase().includes(wanted)) hits.push({ ...row, number });
      number += 1;
      if (hits.length === limit) return hits;
    }
  }
  return hits;
}

/** Rows that came, or news that none will. */
export interface LogNews extends LogWindow {
  /** The log is complete; this is the last news. */
  isComplete: boolean;
}

const rowsAtOnce = 1_000;
/**
 * A follower looks again after this long even if nobody rings: the sweep seals logs of lost
 * runners without a bell, and a command beside the server hears none. A second is what a
 * person takes for "live".
 */
const lookAgainMs = 1_000;

export interface FollowOptions {
  /**
   * Who knows what rows there are. `writer`: the log as this process writes it, whose counters a
   * follower only reads. `disk`: the file, looked at again and again, for a command beside the server.
   */
  source?: 'writer' | 'disk';
}

/** Follows a log from a row on, until it is complete or the follower leaves. */
export async function* followLog(
  deps: Room,
  taskId: number,
  from: number,
  signal: AbortSignal,
  { source = 'writer' }: FollowOptions = {},
): AsyncGenerator<LogNews> {
  const view = source === 'disk' ? deps.logs.view(taskId) : null;
  for (let next = from; !signal.aborted; ) {
    // The seal first: whatever is counted after it is the whole log.
    const task = await deps.db.read.findOneBy(taskSchema, { id: taskId });
    const isComplete = task === null || task.sealedAt !== null;
    await view?.refresh();
    const log = view ?? (await deps.logs.log(taskId));
    const window = await windowOf(log, next, rowsAtOnce);
    next = window.from + window.rows.length;
    const isLast = isComplete && next >= window.total;
    if (window.rows.length > 0 || isLast) yield { ...window, isComplete: isLast };
    if (isLast) return;
    // Rows that are counted but cannot be read are those of a file that somebody has removed.
    const isGone = window.rows.length === 0 && next < window.total;
    if (isGone || next >= log.rows) await deps.notifier.wait(logTopic(taskId), { signal, timeoutMs: lookAgainMs });
  }
}
