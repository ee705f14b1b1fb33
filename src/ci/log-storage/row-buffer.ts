import { createReadStream } from 'node:fs';
import { open, rm } from 'node:fs/promises';
import type { FileHandle } from 'node:fs/promises';
import { cutText } from '../runner-model/runner-declaration.ts';

/** Limit of rows in memory, in bytes; further rows go to a file. */
const maxBytesInMemory = 4 * 1024 * 1024;
const writeAtOnce = 1024 * 1024;

/**
 * The rows of one call, in stored form. After an outage a runner sends its whole backlog, hundreds of megabytes in one
 * message. Nothing may be stored until the whole message was read and found valid, so rows beyond a few megabytes wait
 * in a temporary file.
 */
export class RowBuffer {
  readonly #file: string;
  readonly #parts: Buffer[] = [];
  #lines: string[] = [];
  #linesLength = 0;
  #partsBytes = 0;
  #spilled: FileHandle | null = null;
  #count = 0;

  /**
   * @param file temporary file for rows; created if necessary
   */
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

  /** All rows except the first `skip`, in chunks that end with a complete row. Call `flush` first. */
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

  /** Must be called in every case. */
  async discard(): Promise<void> {
    if (this.#spilled === null) return;
    await this.#spilled.close();
    await rm(this.#file, { force: true });
  }
}

/** Size limit of the content of a row in bytes; longer content is cut and marked. */
export const maxRowBytes = 64 * 1024;

/** Length of the prefix of every stored row in characters: `2026-01-31T10:00:00.0000000Z `. */
export const prefixLength = 29;

const lastSecond = 253_402_300_799n;

/**
 * Formats one row of the log file: the time with seven fractional digits, and the content in one line. Carriage returns
 * stay, because output that overwrites itself, such as a progress bar, is one line. Everything else stays as the runner
 * sent it; pages escape it.
 */
export function formatRow(time: { seconds: bigint; nanos: number } | null, content: string): string {
  return `${formatTime(time)} ${fitContent(content)}\n`;
}

let lastFormatted: { seconds: bigint; text: string } = { seconds: -1n, text: '' };

/** Caches the text of a second, which many rows share. */
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
