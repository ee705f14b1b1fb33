import { constants } from 'node:fs';
import { mkdir, open, readFile } from 'node:fs/promises';
import type { FileHandle } from 'node:fs/promises';
import path from 'node:path';
import { nullIfAbsent, syncPath } from '../../files/index.ts';
import { markOf } from '../log-command.ts';
import type { AnnotationLevel, LogMark } from '../log-command.ts';
import { LogIndex, recordBytes, rowsPerBlock } from './log-index.ts';
import { prefixLength } from './row-buffer.ts';

const readAtOnce = 256 * 1024;
/** Bytes of blocks that a search reads at once: few reads, without blocking the event loop for long. */
const searchedAtOnce = 512 * 1024;
const lineFeed = 0x0a;

/**
 * Reads the log of one task: an append-only file with one line per row, and its index (`log-index.ts`). One scan of the
 * file completes a stored index that is behind. Each object has its own counters: `LogFile` in the writer, `LogView` in
 * another process.
 */
export abstract class LogReader {
  readonly file: string;
  protected readonly index = new LogIndex();
  #loaded: Promise<void> | null = null;

  constructor(file: string) {
    this.file = file;
  }

  get rows(): number {
    return this.index.rows;
  }

  get bytes(): number {
    return this.index.bytes;
  }

  /** Reads the index and scans the rest; a missing file has no rows. After a failure the next call retries. */
  load(): Promise<void> {
    return (this.#loaded ??= this.#restore()
      .then(() => this.scan())
      .catch((error: unknown) => {
        this.#loaded = null;
        throw error;
      }));
  }

  /** Returns at most `count` rows starting with `from`, without line ends. */
  async read(from: number, count: number): Promise<string[]> {
    await this.load();
    const wanted = Math.min(count, this.rows - from);
    if (wanted <= 0) return [];
    const lines: string[] = [];
    let skip = from % rowsPerBlock;
    for await (const chunk of this.chunks(from - skip)) {
      for (const line of chunk.toString('utf8').slice(0, -1).split('\n')) {
        if (skip > 0) skip -= 1;
        else lines.push(line);
        if (lines.length === wanted) return lines;
      }
    }
    return lines;
  }

  /**
   * Finds the nearest row with an annotation of one of these levels: from a row on, or before it if `direction` is -1.
   * @returns the number of the row; null if there is none
   */
  async findAnnotation(
    levels: readonly AnnotationLevel[],
    from: number,
    direction: 1 | -1 = 1,
  ): Promise<number | null> {
    await this.load();
    const start = direction === 1 ? from : Math.min(from, this.rows) - 1;
    if (start < 0 || start >= this.rows) return null;
    let block = this.index.blockWith(levels, Math.floor(start / rowsPerBlock), direction);
    while (block !== null) {
      const first = block * rowsPerBlock;
      const marks = (await this.read(first, rowsPerBlock)).map((line) => markOf(line.slice(prefixLength)));
      const isWanted = (mark: LogMark | null, at: number): boolean =>
        levels.includes(mark as AnnotationLevel) && (direction === 1 ? first + at >= start : first + at <= start);
      const found = direction === 1 ? marks.findIndex(isWanted) : marks.findLastIndex(isWanted);
      if (found !== -1) return first + found;
      block = this.index.blockWith(levels, block + direction, direction);
    }
    return null;
  }

  /** Number of rows with an annotation of a level; `to` is exclusive. */
  async countAnnotations(level: AnnotationLevel, from: number, to: number): Promise<number> {
    await this.load();
    let count = 0;
    for (let row = from; row < Math.min(to, this.rows); ) {
      const block = Math.floor(row / rowsPerBlock);
      const end = Math.min(to, (block + 1) * rowsPerBlock);
      const isWhole = row % rowsPerBlock === 0 && end === (block + 1) * rowsPerBlock;
      if (isWhole || this.index.countIn(block, level) === 0) count += this.index.countIn(block, level);
      else
        count += (await this.read(row, end - row)).filter((line) => markOf(line.slice(prefixLength)) === level).length;
      row = end;
    }
    return count;
  }

  /** First row of the group that contains a row; null outside of groups, and for that first row itself. */
  async groupOf(row: number): Promise<number | null> {
    await this.load();
    const first = Math.floor(row / rowsPerBlock) * rowsPerBlock;
    let group = this.index.groupBefore(first / rowsPerBlock);
    (await this.read(first, row - first)).forEach((line, at) => {
      const mark = markOf(line.slice(prefixLength));
      if (mark === 'group') group = first + at;
      else if (mark === 'endgroup') group = null;
    });
    return group;
  }

  /** The file from the block of a row on, in chunks that end with a complete row. */
  async *chunks(from = 0): AsyncGenerator<Buffer> {
    await this.load();
    const end = this.bytes;
    let at = this.index.startOf(Math.floor(from / rowsPerBlock));
    const file = await open(this.file, 'r').catch(nullIfAbsent);
    if (file === null) return;
    try {
      while (at < end) {
        const chunk = await readWholeRows(file, at, end);
        // Another process has truncated the file; waiting would not help.
        if (chunk.length === 0) return;
        at += chunk.length;
        yield chunk;
      }
    } finally {
      await file.close();
    }
  }

  /**
   * The file in chunks of whole blocks, each with the number of its first row. Each chunk reuses the memory of the one
   * before.
   */
  async *blocks(): AsyncGenerator<{ firstRow: number; bytes: Buffer }> {
    await this.load();
    const { rows } = this;
    const file = await open(this.file, 'r').catch(nullIfAbsent);
    if (file === null) return;
    let buffer = Buffer.allocUnsafe(searchedAtOnce);
    try {
      const last = Math.ceil(rows / rowsPerBlock);
      for (let block = 0; block < last; ) {
        const start = this.index.startOf(block);
        let next = block + 1;
        while (next < last && this.index.startOf(next + 1) - start <= searchedAtOnce) next += 1;
        const length = this.index.startOf(next) - start;
        if (length > buffer.length) buffer = Buffer.allocUnsafe(length);
        const { bytesRead } = await file.read(buffer, 0, length, start);
        if (bytesRead < length) return;
        yield { firstRow: block * rowsPerBlock, bytes: buffer.subarray(0, length) };
        block = next;
      }
    } finally {
      await file.close();
    }
  }

  /** Counts the rows added to the file since the last scan. */
  protected async scan(): Promise<void> {
    const file = await open(this.file, 'r').catch(nullIfAbsent);
    if (file === null) return;
    try {
      const { size } = await file.stat();
      if (size < this.bytes) this.index.clear();
      while (this.bytes < size) {
        const chunk = await readWholeRows(file, this.bytes, size);
        // The rest is an incomplete row.
        if (chunk.length === 0) break;
        this.index.count(chunk);
      }
    } finally {
      await file.close();
    }
  }

  /** A stored index that does not match the log or is unreadable counts as missing. */
  async #restore(): Promise<void> {
    const stored = await readFile(indexFileOf(this.file)).catch(() => null);
    const file = stored === null ? null : await open(this.file, 'r').catch(nullIfAbsent);
    if (stored === null || file === null) return;
    try {
      this.index.restore(stored, (await file.stat()).size);
      if (this.bytes === 0) return;
      const { buffer } = await file.read(Buffer.alloc(1), 0, 1, this.bytes - 1);
      if (buffer[0] !== lineFeed) this.index.clear();
    } finally {
      await file.close();
    }
  }
}

/** The index file, which is next to the log file. */
export const indexFileOf = (logFile: string): string => `${logFile.replace(/\.log$/, '')}.idx`;

/**
 * The log of one task in the process that writes it. It counts the rows that it writes and never scans the file for
 * more: a row counted during its write would be counted, and acknowledged, twice.
 */
export class LogFile extends LogReader {
  #writer: FileHandle | null = null;

  /**
   * Appends whole rows; they are durable only after `sync`. Overwrites an incomplete row left by a crash. Calls must
   * not overlap: `LogStore.withLock` serialises them.
   */
  async append(rows: Buffer): Promise<void> {
    await this.load();
    this.#writer ??= await openForWriting(this.file);
    const at = this.bytes;
    for (let done = 0; done < rows.length; ) {
      const { bytesWritten } = await this.#writer.write(rows, done, rows.length - done, at + done);
      done += bytesWritten;
    }
    this.index.count(rows);
  }

  /** Syncs the appended rows. */
  async sync(): Promise<void> {
    if (this.#writer === null) return;
    await this.#writer.truncate(this.bytes);
    await this.#writer.datasync();
    await this.#storeIndex();
  }

  /**
   * Called after the rows are durable, so that the index is never ahead of them. Not synced: lost blocks are scanned
   * again.
   */
  async #storeIndex(): Promise<void> {
    const at = this.index.storedBlocks * recordBytes;
    const added = this.index.serialize();
    if (added.length === 0) return;
    const file = await open(indexFileOf(this.file), constants.O_RDWR | constants.O_CREAT, 0o600);
    try {
      await file.truncate(at);
      await file.write(added, 0, added.length, at);
    } finally {
      await file.close();
    }
  }

  async close(): Promise<void> {
    await this.#writer?.close();
    this.#writer = null;
  }
}

/**
 * A read-only log that another process writes, for a command run beside the server. It has its own counters, so a read
 * during a write never changes the counts of the writer.
 */
export class LogView extends LogReader {
  #refreshing: Promise<void> | null = null;

  /** Scans for added rows. Concurrent calls share one scan. */
  refresh(): Promise<void> {
    return (this.#refreshing ??= this.load()
      .then(() => this.scan())
      .finally(() => (this.#refreshing = null)));
  }
}

/** A log whose reader must call `refresh` to see added rows. */
export type RefreshedLog = LogReader & { refresh(): Promise<unknown> };

/** Assumes that a row is never longer than one read. */
async function readWholeRows(file: FileHandle, at: number, end: number): Promise<Buffer> {
  const buffer = Buffer.allocUnsafe(Math.min(readAtOnce, end - at));
  const { bytesRead } = await file.read(buffer, 0, buffer.length, at);
  return buffer.subarray(0, buffer.subarray(0, bytesRead).lastIndexOf(lineFeed) + 1);
}

/** A new file is durable only once its folder is also synced. */
async function openForWriting(file: string): Promise<FileHandle> {
  const folder = path.dirname(file);
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const writer = await open(file, constants.O_RDWR | constants.O_CREAT, 0o600);
  await syncPath(folder);
  return writer;
}
