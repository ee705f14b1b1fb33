import { constants } from 'node:fs';
import { mkdir, open } from 'node:fs/promises';
import type { FileHandle } from 'node:fs/promises';
import path from 'node:path';
import { LogReader } from './log-reader.ts';

/**
 * The log of one task in the process that writes it. It counts what it has written itself and never scans the file for
 * more: a row counted during its write would be counted, and acknowledged, twice.
 */
export class LogFile extends LogReader {
  #writer: FileHandle | null = null;

  /**
   * Appends whole rows; they are not durable before `sync`. An incomplete row left by a crash is overwritten. One call
   * at a time: `LogStore.inTurn` serialises them.
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

/** A new file is durable only once its folder is synced, too. */
async function openForWriting(file: string): Promise<FileHandle> {
  const folder = path.dirname(file);
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const writer = await open(file, constants.O_RDWR | constants.O_CREAT, 0o600);
  const entry = await open(folder, 'r');
  await entry.sync();
  await entry.close();
  return writer;
}
