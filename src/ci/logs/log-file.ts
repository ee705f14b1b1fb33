import { nullIfAbsent, syncPath } from '../../files/index.ts';
import { constants } from 'node:fs';
import { mkdir, open } from 'node:fs/promises';
import type { FileHandle } from 'node:fs/promises';
import path from 'node:path';

/** Distance of index entries, in rows. */
export const rowsPerMark = 256;
const readAtOnce = 256 * 1024;
const lineFeed = 0x0a;

/**
 * The log of one task, for reading: an append-only file with one line per row. Offsets are indexed in memory, one for
 * every 256 rows, by one scan of the file; a million rows are four thousand numbers. The counters belong to one
 * object: `LogFile` for the writer, `LogView` for another process.
 */
export abstract class LogReader {
  protected readonly path: string;
  readonly #marks: number[] = [0];
  #rows = 0;
  /** End of the last whole row. */
  #bytes = 0;
  #loaded: Promise<void> | null = null;

  constructor(file: string) {
    this.path = file;
  }

  get rows(): number {
    return this.#rows;
  }

  get bytes(): number {
    return this.#bytes;
  }

  /** Scans the file; a missing file has no rows. After a failure the next call tries again. */
  load(): Promise<void> {
    return (this.#loaded ??= this.scan().catch((error: unknown) => {
      this.#loaded = null;
      throw error;
    }));
  }

  /** Rows from `from` on, at most `count`, without their line ends. */
  async read(from: number, count: number): Promise<string[]> {
    await this.load();
    const wanted = Math.min(count, this.#rows - from);
    if (wanted <= 0) return [];
    const lines: string[] = [];
    let skip = from % rowsPerMark;
    for await (const chunk of this.chunks(from - skip)) {
      for (const line of chunk.toString('utf8').slice(0, -1).split('\n')) {
        if (skip > 0) skip -= 1;
        else lines.push(line);
        if (lines.length === wanted) return lines;
      }
    }
    return lines;
  }

  /** The file from the index entry at or before a row on, in chunks that end with a row. */
  async *chunks(from = 0): AsyncGenerator<Buffer> {
    await this.load();
    const end = this.#bytes;
    let at = this.#marks[Math.floor(from / rowsPerMark)] ?? end;
    const file = await open(this.path, 'r').catch(nullIfAbsent);
    if (file === null) return;
    try {
      while (at < end) {
        const chunk = await readWholeRows(file, at, end);
        // The file was truncated by another process: waiting would not help.
        if (chunk.length === 0) return;
        at += chunk.length;
        yield chunk;
      }
    } finally {
      await file.close();
    }
  }

  /** Counts the rows that were added to the file since. */
  protected async scan(): Promise<void> {
    const file = await open(this.path, 'r').catch(nullIfAbsent);
    if (file === null) return;
    try {
      const { size } = await file.stat();
      if (size < this.#bytes) this.#forget();
      const buffer = Buffer.allocUnsafe(readAtOnce);
      for (let at = this.#bytes; ; ) {
        const { bytesRead } = await file.read(buffer, 0, buffer.length, at);
        if (bytesRead === 0) break;
        this.count(buffer.subarray(0, bytesRead), at);
        at += bytesRead;
      }
    } finally {
      await file.close();
    }
  }

  /** Counts rows and indexes their ends. */
  protected count(bytes: Buffer, at: number): void {
    for (let feed = bytes.indexOf(lineFeed); feed !== -1; feed = bytes.indexOf(lineFeed, feed + 1)) {
      this.#rows += 1;
      this.#bytes = at + feed + 1;
      if (this.#rows % rowsPerMark === 0) this.#marks.push(this.#bytes);
    }
  }

  #forget(): void {
    this.#marks.splice(1);
    this.#rows = 0;
    this.#bytes = 0;
  }
}

/**
 * The log of one task in the process that writes it. It counts what it has written itself and never scans the file for
 * more: a row counted during its write would be counted, and acknowledged, twice.
 */
export class LogFile extends LogReader {
  #writer: FileHandle | null = null;

  /**
   * Appends whole rows; they are not durable before `sync`. An incomplete row left by a crash is overwritten. One call
   * at a time: `LogStore.withLock` serialises them.
   */
  async append(rows: Buffer): Promise<void> {
    await this.load();
    this.#writer ??= await openForWriting(this.path);
    const at = this.bytes;
    for (let done = 0; done < rows.length; ) {
      const { bytesWritten } = await this.#writer.write(rows, done, rows.length - done, at + done);
      done += bytesWritten;
    }
    this.count(rows, at);
  }

  /** Syncs what was added. */
  async sync(): Promise<void> {
    if (this.#writer === null) return;
    await this.#writer.truncate(this.bytes);
    await this.#writer.datasync();
  }

  async close(): Promise<void> {
    await this.#writer?.close();
    this.#writer = null;
  }
}

/**
 * A log that another process writes, read-only: for a command beside the server. It has its own counters, so a read
 * during a write never changes what the writer counts and acknowledges.
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

/** A row is never longer than one read. */
async function readWholeRows(file: FileHandle, at: number, end: number): Promise<Buffer> {
  const buffer = Buffer.allocUnsafe(Math.min(readAtOnce, end - at));
  const { bytesRead } = await file.read(buffer, 0, buffer.length, at);
  return buffer.subarray(0, buffer.subarray(0, bytesRead).lastIndexOf(lineFeed) + 1);
}

/** A new file is durable only once its folder is synced, too. */
async function openForWriting(file: string): Promise<FileHandle> {
  const folder = path.dirname(file);
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const writer = await open(file, constants.O_RDWR | constants.O_CREAT, 0o600);
  await syncPath(folder);
  return writer;
}
