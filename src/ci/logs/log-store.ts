import { mkdir, readdir, rm } from 'node:fs/promises';
import path from 'node:path';
import { createKeyedMutex } from '../../kernel/index.ts';
import type { Random } from '../../kernel/index.ts';
import { LogFile, LogView } from './log-file.ts';
import { RowBuffer } from './row-buffer.ts';

/** Limit of open logs; above the number of concurrent tasks. */
const maxOpen = 200;

/** The logs of all tasks, below one folder: a file for each. */
export class LogStore {
  readonly #folder: string;
  readonly #random: Random;
  /** Least recently used first. Not the kernel's cache: a file that is being written is never closed. */
  readonly #open = new Map<number, LogFile>();
  readonly #writing = createKeyedMutex<number>();

  constructor(folder: string, random: Random) {
    this.#folder = folder;
    this.#random = random;
  }

  /** At start: removes row buffers of calls that a crash interrupted. */
  async sweep(): Promise<void> {
    await rm(this.#waiting, { recursive: true, force: true });
    await mkdir(this.#waiting, { recursive: true, mode: 0o700 });
  }

  newRows(): RowBuffer {
    return new RowBuffer(path.join(this.#waiting, this.#random.uuid()));
  }

  /** Runs work on a log while no other call writes to it. */
  withLock<T>(taskId: number, work: (log: LogFile) => Promise<T>): Promise<T> {
    return this.#writing(taskId, () => this.#run(taskId, work));
  }

  /** The log for reading; also while rows are added. */
  async log(taskId: number): Promise<LogFile> {
    const log = this.#acquire(taskId);
    await log.load();
    return log;
  }

  /** The log as another process writes it; for one reader, who refreshes it. */
  view(taskId: number): LogView {
    return new LogView(this.#fileOf(taskId));
  }

  async remove(taskId: number): Promise<void> {
    await this.withLock(taskId, async (log) => {
      await log.close();
      // The file first: a concurrent request must not count the rows of a file that is being removed.
      await rm(this.#fileOf(taskId), { force: true });
      this.#open.delete(taskId);
    });
  }

  /** Ids of all tasks that have a log. */
  async *ids(): AsyncGenerator<number> {
    for (const folder of await readdir(this.#folder).catch(() => [])) {
      if (!/^\d+$/.test(folder)) continue;
      for (const name of await readdir(path.join(this.#folder, folder))) {
        const [, id] = /^(\d+)\.log$/.exec(name) ?? [];
        if (id !== undefined) yield Number(id);
      }
    }
  }

  async close(): Promise<void> {
    await this.#writing.settled();
    await Promise.all([...this.#open.values()].map((log) => log.close()));
    this.#open.clear();
  }

  async #run<T>(taskId: number, work: (log: LogFile) => Promise<T>): Promise<T> {
    const log = this.#acquire(taskId);
    await log.load();
    return work(log);
  }

  #acquire(taskId: number): LogFile {
    const log = this.#open.get(taskId) ?? new LogFile(this.#fileOf(taskId));
    this.#open.delete(taskId);
    this.#open.set(taskId, log);
    for (const [id, old] of this.#open) {
      if (this.#open.size <= maxOpen) break;
      if (this.#writing.isHeld(id) || id === taskId) continue;
      this.#open.delete(id);
      void old.close();
    }
    return log;
  }

  get #waiting(): string {
    return path.join(this.#folder, 'waiting');
  }

  /** A thousand tasks share a folder. */
  #fileOf(taskId: number): string {
    return path.join(this.#folder, String(Math.floor(taskId / 1000)), `${taskId}.log`);
  }
}
