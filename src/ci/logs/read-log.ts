import { bellOfLog } from '../bell.ts';
import type { CiRoom } from '../room.ts';
import { taskSchema } from '../tasks/task-schema.ts';
import { rowsPerMark } from './log-file.ts';
import { readRow } from './row-format.ts';
import type { StoredRow } from './row-format.ts';

type Room = Pick<CiRoom, 'logs' | 'db' | 'bell'>;

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
  const log = await logs.log(taskId);
  const start = Math.max(0, Math.min(from, log.rows));
  const lines = await log.read(start, Math.min(count, maxWindow));
  return { from: start, rows: lines.map(readRow), total: log.rows };
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
/** A follower looks again after this long even if nobody rings: a command beside the server hears no bell. */
const lookAgainMs = 1_000;

/** Follows a log from a row on, until it is complete or the follower leaves. */
export async function* followLog(
  room: Room,
  taskId: number,
  from: number,
  signal: AbortSignal,
): AsyncGenerator<LogNews> {
  for (let next = from; !signal.aborted; ) {
    const task = await room.db.read.findOneBy(taskSchema, { id: taskId });
    const log = await room.logs.log(taskId);
    const isComplete = task === null || task.sealedAt !== null;
    await log.refresh();
    const window = await readLog(room, taskId, next, rowsAtOnce);
    next = window.from + window.rows.length;
    const isLast = isComplete && next >= window.total;
    if (window.rows.length > 0 || isLast) yield { ...window, isComplete: isLast };
    if (isLast) return;
    if (next >= log.rows) await room.bell.wait(bellOfLog(taskId), { signal, timeoutMs: lookAgainMs });
  }
}
