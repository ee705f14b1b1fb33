import { constants } from 'node:fs';
import { mkdir, open } from 'node:fs/promises';
import type { FileHandle } from 'node:fs/promises';
import path from 'node:path';

/** Every so many rows the place in the file is remembered. */
export const rowsPerMark = 256;
const readAtOnce = 256 * 1024;
const lineFeed = 0x0a;

/**
 * The log of one task: rows in a file, one line each, only ever added to. Places of
 * rows are kept in memory, one for every 256 rows, and found by reading the file
 * once when it is opened; a million rows are four thousand numbers.
 */
export class LogFile {
  readonly #path: string;
  readonly #marks: number[] = [0];
  #rows = 0;
  /** End of the last whole row. */
  #bytes = 0;
  #loaded: Promise<void> | null = null;
  #writer: FileHandle | null = null;

  constructor(file: string) {
    this.#path = file;
  }

  get rows(): number {
    return this.#rows;
  }

  get bytes(): number {
    return this.#bytes;
  }

  /** Reads what is there; a file that is missing has no rows. */
  load(): Promise<void> {
    return (this.#loaded ??= this.refresh());
  }

  /** Looks for rows that another process has added: for a command beside the server. */
  async refresh(): Promise<void> {
    const file = await openIfThere(this.#path);
    if (file === null) return;
    try {
      const buffer = Buffer.allocUnsafe(readAtOnce);
      for (let at = this.#bytes; ; ) {
        const { bytesRead } = await file.read(buffer, 0, buffer.length, at);
        if (bytesRead === 0) break;
        this.#count(buffer.subarray(0, bytesRead), at);
        at += bytesRead;
      }
    } finally {
      await file.close();
    }
  }

  /**
   * Adds whole rows; they are not safe before `sync`. Half a row that a crash has
   * left is written over.
   */
  async append(rows: Buffer): Promise<void> {
    await this.load();
    this.#writer ??= await openForWriting(this.#path);
    const at = this.#bytes;
    for (let done = 0; done < rows.length; ) {
      const { bytesWritten } = await this.#writer.write(rows, done, rows.length - done, at + done);
      done += bytesWritten;
    }
    this.#count(rows, at);
  }

  /** Brings what was added to the disk itself. */
  async sync(): Promise<void> {
    if (this.#writer === null) return;
    await this.#writer.truncate(this.#bytes);
    await this.#writer.datasync();
  }

  /** Rows from `from` on, at most `count`, without their line ends. */
  async read(from: number, count: number): Promise<string[]> {
    await this.load();
    const wanted = Math.min(count, this.#rows - from);
    if (wanted <= 0) return [];
    const lines: string[] = [];
    let skip = from % rowsPerMark;
    for await (const piece of this.pieces(from - skip)) {
      for (const line of piece.toString('utf8').slice(0, -1).split('\n')) {
        if (skip > 0) skip -= 1;
        else lines.push(line);
        if (lines.length === wanted) return lines;
      }
    }
    return lines;
  }

  /** The file from the mark at or before a row on, in pieces that end with a row. */
  async *pieces(from = 0): AsyncGenerator<Buffer> {
    await this.load();
    const file = await openIfThere(this.#path);
    if (file === null) return;
    const end = this.#bytes;
    try {
      let at = this.#marks[Math.floor(from / rowsPerMark)] ?? end;
      while (at < end) {
        const piece = await readWholeRows(file, at, end);
        at += piece.length;
        yield piece;
      }
    } finally {
      await file.close();
    }
  }

  async close(): Promise<void> {
    await this.#writer?.close();
    this.#writer = null;
  }

  /** Notes where rows end. */
  #count(bytes: Buffer, at: number): void {
    for (let feed = bytes.indexOf(lineFeed); feed !== -1; feed = bytes.indexOf(lineFeed, feed + 1)) {
      this.#rows += 1;
      this.#bytes = at + feed + 1;
      if (this.#rows % rowsPerMark === 0) this.#marks.push(this.#bytes);
    }
  }
}

/** A row is never longer than what is read at once. */
async function readWholeRows(file: FileHandle, at: number, end: number): Promise<Buffer> {
  const buffer = Buffer.allocUnsafe(Math.min(readAtOnce, end - at));
  const { bytesRead } = await file.read(buffer, 0, buffer.length, at);
  return buffer.subarray(0, buffer.subarray(0, bytesRead).lastIndexOf(lineFeed) + 1);
}

async function openIfThere(file: string): Promise<FileHandle | null> {
  return open(file, 'r').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return null;
    throw error;
  });
}

/** A new file is only there for sure once its folder is on disk, too. */
async function openForWriting(file: string): Promise<FileHandle> {
  const folder = path.dirname(file);
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const writer = await open(file, constants.O_RDWR | constants.O_CREAT, 0o600);
  const entry = await open(folder, 'r');
  await entry.sync();
  await entry.close();
  return writer;
}
