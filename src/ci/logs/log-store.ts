import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { access, mkdir, readdir, rm } from 'node:fs/promises';
import path from 'node:path';
import { createKeyedMutex } from '../../kernel/index.ts';
import type { Random } from '../../kernel/index.ts';
import type { ObjectStore } from '../../objects/index.ts';
import { ignoreUnavailable } from '../ignore-unavailable.ts';
import { RemoteLogCache, logKey, logPath, logPrefix } from './remote-log-cache.ts';
import { indexFileOf, LogFile, LogView } from './log-file.ts';
import type { LogReader } from './log-file.ts';
import { RowBuffer } from './row-buffer.ts';

const readAtOnce = 1024 * 1024;
const isThere = [() => true, () => false] as const;

/** Limit of open logs; above the number of concurrent tasks. */
const maxOpen = 200;

/**
 * The logs of all tasks, below one folder: a file for each. Where the store of objects is a bucket, complete logs go
 * there and are fetched for reading.
 */
export class LogStore {
  readonly #folder: string;
  readonly #objects: ObjectStore;
  readonly #fetched: RemoteLogCache;
  readonly #random: Random;
  /** Least recently used first. Not the kernel's cache: a file that is being written is never closed. */
  readonly #open = new Map<number, LogFile>();
  readonly #writing = createKeyedMutex<number>();

  constructor(folder: string, random: Random, objects: ObjectStore) {
    this.#folder = folder;
    this.#objects = objects;
    this.#fetched = new RemoteLogCache(path.join(folder, '.fetched'), objects);
    this.#random = random;
  }

  /** At start: removes row buffers of calls that a crash interrupted. */
  async sweep(): Promise<void> {
    await this.#fetched.clear();
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

  /** The log for reading; also while rows are added. Refuses `object_store_unavailable`. */
  async log(taskId: number): Promise<LogReader> {
    const log = this.#acquire(taskId);
    await log.load();
    if (log.rows > 0 || this.#objects.place === 'folder') return log;
    return (await this.#fetched.open(taskId)) ?? log;
  }

  /** Gives a complete log to the store of objects, where that is elsewhere. Refuses as `ObjectStore.adopt` does. */
  async store(taskId: number): Promise<void> {
    if (this.#objects.place === 'folder') return;
    await this.withLock(taskId, async (log) => {
      await log.close();
      const file = this.#fileOf(taskId);
      const hash = createHash('sha256');
      let bytes = 0;
      for await (const chunk of createReadStream(file, { highWaterMark: readAtOnce })) {
        hash.update(chunk as Buffer);
        bytes += (chunk as Buffer).length;
      }
      await this.#objects.adopt(logKey(taskId), file, { bytes, sha256: hash.digest('hex') });
      await rm(indexFileOf(file), { force: true });
      this.#open.delete(taskId);
    });
  }

  /** The log as another process writes it; for one reader, who refreshes it. */
  async view(taskId: number): Promise<LogView> {
    const file = this.#fileOf(taskId);
    const isHere = this.#objects.place === 'folder' || (await access(file).then(...isThere));
    return (isHere ? null : await this.#fetched.open(taskId)) ?? new LogView(file);
  }

  async remove(taskId: number): Promise<void> {
    await this.withLock(taskId, async (log) => {
      await log.close();
      // The file first: a concurrent request must not count the rows of a file that is being removed.
      await rm(this.#fileOf(taskId), { force: true });
      await rm(indexFileOf(this.#fileOf(taskId)), { force: true });
      this.#open.delete(taskId);
      if (this.#objects.place === 'folder') return;
      this.#fetched.forget(taskId);
      // The nightly task removes what the store does not remove now.
      await this.#objects.remove(logKey(taskId)).catch(ignoreUnavailable);
    });
  }

  /** Ids of all tasks that have a log. */
  async *ids(): AsyncGenerator<number> {
    yield* this.idsHere();
    if (this.#objects.place === 'folder') return;
    for await (const { key } of this.#objects.list(logPrefix)) {
      const [, id] = /\/(\d+)\.log$/.exec(key) ?? [];
      if (id !== undefined) yield Number(id);
    }
  }

  /** Ids of the tasks whose log is a file of this machine. */
  async *idsHere(): AsyncGenerator<number> {
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
    return path.join(this.#folder, logPath(taskId));
  }
}
