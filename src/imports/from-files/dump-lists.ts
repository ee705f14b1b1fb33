import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import path from 'node:path';
import { nullIfAbsent } from '../../files/index.ts';
import { unavailable } from '../../kernel/index.ts';
import type { TaskLimits, WorkerPool } from '../../workers/index.ts';
import { fileLimits } from './file-limits.ts';
import type { run } from './read-items-task.ts';

/** Items of a part of a list; `next` is the byte offset of the next part, null at the end. */
interface ListPart {
  items: unknown[];
  next: number | null;
  /** Number of items that could not be read. */
  unreadable: number;
}

const taskLimits: TaskLimits = {
  // Parsing the largest part takes a tenth of this limit.
  deadlineMs: 10_000,
  maxWaitMs: 60_000,
  maxInputBytes: 3 * (fileLimits.partBytes + fileLimits.itemBytes),
  maxResultBytes: 3 * (fileLimits.partBytes + fileLimits.itemBytes),
};

type ListLimits = Record<'itemBytes' | 'partBytes', number>;

export type ReadPart = (name: string, from: number) => Promise<ListPart>;

/**
 * Reads YAML lists in a folder part by part, so that a list is never in memory as a whole. Each item begins with a dash
 * at the beginning of a line, as all writers of lists of mappings produce; a list on one line is one part.
 */
export function createListReader(
  { workers }: { workers: WorkerPool },
  folder: string,
  client: string,
  limits: ListLimits = fileLimits,
): ReadPart {
  return async (name, from) => {
    const file = path.join(folder, name);
    const { texts, next, tooLong } = await splitList(file, from, limits);
    const plain = texts.map(parseJson);
    const rest = texts.filter((_, at) => plain[at] === undefined);
    const parsed = rest.length === 0 ? [] : await parseYaml(workers, rest, client);
    let unreadable = tooLong;
    const items = plain.flatMap((value) => {
      const item = value === undefined ? parsed.shift() : value;
      const own = Array.isArray(item) ? (item as unknown[]) : [item];
      const rows = own.filter((each) => each !== null && typeof each === 'object' && !Array.isArray(each));
      unreadable += own.length - rows.length;
      return rows;
    });
    return { items, next, unreadable };
  };
}

/** All items of an inherently short list. */
export async function readWhole(
  read: ReadPart,
  name: string,
  most: number,
): Promise<{ items: unknown[]; unreadable: number }> {
  const items: unknown[] = [];
  let unreadable = 0;
  for (let from: number | null = 0; from !== null && items.length < most; ) {
    const part: ListPart = await read(name, from);
    items.push(...part.items.slice(0, most - items.length));
    unreadable += part.unreadable;
    from = part.next;
  }
  return { items, unreadable };
}

/** JSON is YAML, but faster to parse. Undefined for anything else. */
function parseJson(text: string): unknown {
  const body = text.replace(/^- /, '').trimStart();
  if (!/^[[{]/.test(body)) return undefined;
  try {
    return JSON.parse(body) as unknown;
  } catch {
    return undefined;
  }
}

/** Values of YAML texts; null for an invalid one. Throws `busy`. */
export async function parseYaml(workers: WorkerPool, texts: readonly string[], client: string): Promise<unknown[]> {
  const hash = createHash('sha256');
  for (const text of texts) hash.update(text).update('\0');
  const outcome = await workers.run<typeof run>({
    task: 'import-items',
    key: hash.digest('hex'),
    input: () => texts,
    client,
    limits: taskLimits,
  });
  if (outcome.ok)
    return outcome.value.map((value) => (Array.isArray(value) && value.length === 1 ? (value[0] as unknown) : value));
  if (outcome.reason === 'busy') throw unavailable('busy', 'The server is busy. Please try again in a moment.');
  // One of the items is invalid: parses each separately.
  if (texts.length > 1) {
    const found: unknown[] = [];
    for (const text of texts) found.push(...(await parseYaml(workers, [text], client)));
    return found;
  }
  return [null];
}

const betweenLists = new Set(['[]', '---', '...']);
const mostBetween = 100;

/** Writers of several lists in one file leave empty ones in between. */
function withoutEmptyLists(given: string): string {
  let text = given;
  for (let count = 0; count < mostBetween; count += 1) {
    const body = text.trimEnd();
    const begin = body.lastIndexOf('\n') + 1;
    if (!betweenLists.has(body.slice(begin))) break;
    text = text.slice(0, begin);
  }
  return text;
}

/** The texts of the items from a byte offset on, up to a length of `partBytes`. */
async function splitList(
  file: string,
  from: number,
  { itemBytes, partBytes }: ListLimits,
): Promise<{ texts: string[]; next: number | null; tooLong: number }> {
  const size = (await stat(file).catch(nullIfAbsent))?.size ?? 0;
  if (from >= size) return { texts: [], next: null, tooLong: 0 };
  const texts: string[] = [];
  let [held, total, tooLong, isTooLong] = [Buffer.alloc(0) as Buffer, 0, 0, false];
  const take = (given: string): void => {
    const text = withoutEmptyLists(given);
    if (text.trim() !== '') texts.push(text);
  };
  const stream = createReadStream(file, { start: from, highWaterMark: partBytes });
  let searched = 0;
  for await (const chunk of stream as AsyncIterable<Buffer>) {
    held = held.length === 0 ? chunk : Buffer.concat([held, chunk]);
    for (;;) {
      const end = held.indexOf('\n- ', searched);
      if (end === -1) break;
      if (isTooLong) isTooLong = false;
      else if (end > itemBytes) tooLong += 1;
      else take(held.toString('utf8', 0, end + 1));
      total += end + 1;
      held = held.subarray(end + 1);
      searched = 0;
      if (total >= partBytes) {
        stream.destroy();
        return { texts, next: from + total, tooLong };
      }
    }
    if (held.length > itemBytes) {
      if (!isTooLong) tooLong += 1;
      isTooLong = true;
      // The last two bytes may be the beginning of the next item.
      total += held.length - 2;
      held = held.subarray(held.length - 2);
    }
    searched = Math.max(0, held.length - 2);
  }
  if (!isTooLong) take(held.toString('utf8'));
  return { texts, next: null, tooLong };
}
