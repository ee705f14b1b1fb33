import { createReadStream } from 'node:fs';
import { open, rm } from 'node:fs/promises';
import type { FileHandle } from 'node:fs/promises';
import { cutText } from '../runners/runner-declaration.ts';

/** Bytes in memory; rows beyond them are written to a file. */
const maxBytesInMemory = 4 * 1024 * 1024;
const writeAtOnce = 1024 * 1024;

/**
 * The rows of one call, as they will be stored. After an outage a runner sends its whole backlog, hundreds of
 * megabytes in one message, so beyond a few megabytes rows are written to a temporary file: nothing may be stored
 * before the message was read to its end and found valid.
 */
export class RowBuffer {
  readonly #file: string;
  readonly #parts: Buffer[] = [];
  #lines: string[] = [];
  #linesLength = 0;
  #partsBytes = 0;
  #spilled: FileHandle | null = null;
  #count = 0;

  /** @param file temporary file for rows; created when it is needed */
  constructor(file: string) {
    this.#file = file;
  }

  get count(): number {
    return this.#count;
  }

  /** Adds a row. Returns whether `flush` should be awaited before more are added. */
  add(time: { seconds: bigint; nanos: number } | null, content: string): boolean {
    const line = formatRow(time, content);
    this.#lines.push(line);
    this.#linesLength += line.length;
    this.#count += 1;
    return this.#linesLength >= writeAtOnce;
  }

  /** Writes the rows in memory to the file. */
  async flush(): Promise<void> {
    if (this.#lines.length === 0) return;
    const part = Buffer.from(this.#lines.join(''));
    this.#lines = [];
    this.#linesLength = 0;
    if (this.#spilled === null && this.#partsBytes + part.length <= maxBytesInMemory) {
      this.#parts.push(part);
      this.#partsBytes += part.length;
      return;
    }
    if (this.#spilled === null) {
      this.#spilled = await open(this.#file, 'wx', 0o600);
      for (const buffered of this.#parts.splice(0)) await this.#spilled.writeFile(buffered);
    }
    await this.#spilled.writeFile(part);
  }

  /** All rows but the first `skip`, in chunks that end with a row. Call `flush` first. */
  async *from(skip: number): AsyncGenerator<Buffer> {
    const source: Iterable<Buffer> | AsyncIterable<Buffer> =
      this.#spilled === null
        ? this.#parts
        : (createReadStream(this.#file, { highWaterMark: writeAtOnce }) as AsyncIterable<Buffer>);
    let left = skip;
    let rest: Buffer = Buffer.alloc(0);
    for await (const bytes of source) {
      const chunk = rest.length === 0 ? bytes : Buffer.concat([rest, bytes]);
      const end = chunk.lastIndexOf(0x0a) + 1;
      rest = chunk.subarray(end);
      let start = 0;
      while (left > 0 && start < end) {
        start = chunk.indexOf(0x0a, start) + 1;
        left -= 1;
      }
      if (start < end) yield chunk.subarray(start, end);
    }
  }

  /** To be called in every case. */
  async discard(): Promise<void> {
    if (this.#spilled === null) return;
    await this.#spilled.close();
    await rm(this.#file, { force: true });
  }
}

/** Size limit of a row's content in bytes; a longer one is cut and marked. */
export const maxRowBytes = 64 * 1024;

/** `2026-01-31T10:00:00.0000000Z `: length of the prefix of every stored row, in characters. */
export const prefixLength = 29;

const lastSecond = 253_402_300_799n;

/**
 * One row of the log file: the time with seven fractional digits, the content in one line. A carriage return stays:
 * what overwrote itself, as progress bars do, is no other line. Everything else stays as the runner sent it; pages
 * escape it.
 */
export function formatRow(time: { seconds: bigint; nanos: number } | null, content: string): string {
  return `${formatTime(time)} ${fitContent(content)}\n`;
}

let lastFormatted: { seconds: bigint; text: string } = { seconds: -1n, text: '' };

/** Many rows share a second, so its text is cached. */
function formatTime(time: { seconds: bigint; nanos: number } | null): string {
  const given = time?.seconds ?? 0n;
  const seconds = given < 0n ? 0n : given > lastSecond ? lastSecond : given;
  if (seconds !== lastFormatted.seconds) {
    lastFormatted = { seconds, text: new Date(Number(seconds) * 1000).toISOString().slice(0, 19) };
  }
  const ticks = Math.min(9_999_999, Math.max(0, Math.trunc((time?.nanos ?? 0) / 100)));
  return `${lastFormatted.text}.${String(ticks).padStart(7, '0')}Z`;
}

const cutMark = ' [cut: the line is longer than 64 KiB]';

function fitContent(content: string): string {
  const line = /[\r\n]/.test(content)
    ? content
        .replace(/\r?\n$/, '')
        .replaceAll('\r\n', '\\n')
        .replaceAll('\n', '\\n')
    : content;
  // A UTF-16 unit takes at most three bytes.
  if (line.length * 3 <= maxRowBytes || Buffer.byteLength(line) <= maxRowBytes) return line;
  return cutText(line, maxRowBytes - cutMark.length) + cutMark;
}

/** A stored row as pages show it. */
export interface StoredRow {
  /** Milliseconds since the epoch. */
  at: number;
  content: string;
}

export function readRow(line: string): StoredRow {
  return { at: Date.parse(`${line.slice(0, 23)}Z`) || 0, content: line.slice(prefixLength) };
}
