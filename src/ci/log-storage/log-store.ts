import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { access, mkdir, readdir, rm } from 'node:fs/promises';
import path from 'node:path';
import { createKeyedMutex, isDomainError } from '../../kernel/index.ts';
import type { Random } from '../../kernel/index.ts';
import type { ObjectStore } from '../../objects/index.ts';
import { ignoreUnavailable } from '../ignore-unavailable.ts';
import { RemoteLogCache, logKey, logPath, logPrefix } from './remote-log-cache.ts';
import { indexFileOf, LogFile, LogView } from './log-file.ts';
import type { LogReader, RefreshedLog } from './log-file.ts';
import type { LogParts } from './log-parts.ts';
import { RowBuffer } from './row-buffer.ts';
import { SharedLogFile } from './shared-log-file.ts';

const readAtOnce = 1024 * 1024;
const isThere = [() => true, () => false] as const;

const copiesPrefix = '.copies-';

/** Limit of open logs; larger than the number of concurrent tasks. */
const maxOpen = 200;

/**
 * The logs of all tasks, one file each below one folder. If objects are in a bucket, complete logs move there and are
 * fetched for reading. If several nodes also share the database, rows of incomplete logs are stored as parts in it, and
 * the local files are copies of them (`shared-log-file.ts`).
 */
export class LogStore {
  readonly #folder: string;
  readonly #objects: ObjectStore;
  readonly #fetched: RemoteLogCache;
  readonly #random: Random;
  /** Ordered by last use. Files that are being written are never closed. */
  readonly #open = new Map<number, LogFile>();
  readonly #writing = createKeyedMutex<number>();
  readonly #parts: LogParts | null;
  /** Folder for copies of parts, of this process alone: a command may run beside the server. */
  readonly #copies: string;

  /**
   * @param parts null if no other node receives rows
   */
  constructor(folder: string, random: Random, objects: ObjectStore, parts: LogParts | null) {
    this.#folder = folder;
    this.#objects = objects;
    this.#fetched = new RemoteLogCache(path.join(folder, '.fetched'), objects);
    this.#random = random;
    this.#parts = parts;
    this.#copies = path.join(folder, `${copiesPrefix}${random.uuid()}`);
  }

  /** Called at start: removes row buffers of calls that a crash interrupted. */
  async sweep(): Promise<void> {
    await this.#fetched.clear();
    await rm(this.#waiting, { recursive: true, force: true });
    for (const name of await readdir(this.#folder).catch(() => []))
      if (name.startsWith(copiesPrefix)) await rm(path.join(this.#folder, name), { recursive: true, force: true });
    await mkdir(this.#waiting, { recursive: true, mode: 0o700 });
  }

  newRows(): RowBuffer {
    return new RowBuffer(path.join(this.#waiting, this.#random.uuid()));
  }

  /** Runs `work` while no other call writes to the log. */
  withLock<T>(taskId: number, work: (log: LogFile) => Promise<T>): Promise<T> {
    return this.#writing(taskId, () => this.#run(taskId, work));
  }

  /** Opens a log for reading, also while rows are added. Throws `object_store_unavailable`. */
  async log(taskId: number): Promise<LogReader> {
    const log = await this.#acquire(taskId);
    await log.load();
    if (log instanceof SharedLogFile) {
      const isOpen = await this.#writing(taskId, async () => {
        if (await log.follow()) return true;
        // The log is complete and in the bucket; this process may lack some of its rows.
        await this.#forget(taskId, log);
        return false;
      });
      if (isOpen) return log;
      const complete = await this.#fetched.open(taskId);
      if (complete !== null) return complete;
      const empty = this.#copyOf(taskId);
      await empty.load();
      return empty;
    }
    if (log.rows > 0 || this.#objects.place === 'folder') return log;
    return (await this.#fetched.open(taskId)) ?? log;
  }

  /**
   * Moves a complete log to the bucket, if objects are in one. Throws the errors of `ObjectStore.adopt`.
   * @param rows number of its rows: does nothing if this process lacks some of them
   */
  async store(taskId: number, rows: number): Promise<void> {
    if (this.#objects.place === 'folder') return;
    await this.withLock(taskId, async (log) => {
      if (log instanceof SharedLogFile && log.rows < rows) return;
      await log.close();
      const { file } = log;
      const hash = createHash('sha256');
      let bytes = 0;
      for await (const chunk of createReadStream(file, { highWaterMark: readAtOnce })) {
        hash.update(chunk as Buffer);
        bytes += (chunk as Buffer).length;
      }
      await this.#objects
        .adopt(logKey(taskId), file, { bytes, sha256: hash.digest('hex') })
        .catch((error: unknown) => this.#ignoreStored(log, error));
      await this.#parts?.remove(taskId);
      await this.#forget(taskId, log);
    });
  }

  /** The log as another process writes it; its only reader refreshes it. */
  async view(taskId: number): Promise<RefreshedLog> {
    const file = this.#fileOf(taskId);
    if (await this.#isShared(taskId)) {
      const copy = new SharedLogFile(path.join(this.#copies, `${this.#random.uuid()}.log`), taskId, this.#parts!);
      return (await copy.follow()) ? copy : ((await this.#fetched.open(taskId)) ?? copy);
    }
    const isHere = this.#objects.place === 'folder' || (await access(file).then(...isThere));
    return (isHere ? null : await this.#fetched.open(taskId)) ?? new LogView(file);
  }

  async remove(taskId: number): Promise<void> {
    await this.withLock(taskId, async (log) => {
      await log.close();
      await this.#parts?.remove(taskId);
      await this.#forget(taskId, log);
      if (this.#objects.place === 'folder') return;
      this.#fetched.forget(taskId);
      // The nightly task retries if the store is unavailable.
      await this.#objects.remove(logKey(taskId)).catch(ignoreUnavailable);
    });
  }

  /** Ids of all tasks that have a log. */
  async *ids(): AsyncGenerator<number> {
    yield* this.idsOutside();
    if (this.#objects.place === 'folder') return;
    for await (const { key } of this.#objects.list(logPrefix)) {
      const [, id] = /\/(\d+)\.log$/.exec(key) ?? [];
      if (id !== undefined) yield Number(id);
    }
  }

  /** Ids of the tasks whose logs are not in the object store, but in a local file or in parts. */
  async *idsOutside(): AsyncGenerator<number> {
    if (this.#parts !== null) yield* await this.#parts.ids();
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
    if (this.#parts !== null) await rm(this.#copies, { recursive: true, force: true });
  }

  async #run<T>(taskId: number, work: (log: LogFile) => Promise<T>): Promise<T> {
    const log = await this.#acquire(taskId);
    await log.load();
    if (log instanceof SharedLogFile) await log.follow();
    return work(log);
  }

  /** A log that began as a local file, before several nodes shared the database, remains one. */
  async #isShared(taskId: number): Promise<boolean> {
    return this.#parts !== null && !(await access(this.#fileOf(taskId)).then(...isThere));
  }

  /** Forgets the file first: a concurrent request must not count the rows of a file that is being removed. */
  async #forget(taskId: number, log: LogFile): Promise<void> {
    if (this.#open.get(taskId) === log) this.#open.delete(taskId);
    await log.close();
    await rm(log.file, { force: true });
    await rm(indexFileOf(log.file), { force: true });
  }

  /** Another node, which also had the whole log, stored it first. */
  #ignoreStored(log: LogFile, error: unknown): void {
    if (!(log instanceof SharedLogFile) || !isDomainError(error) || error.reason !== 'object_exists') throw error;
  }

  async #acquire(taskId: number): Promise<LogFile> {
    const isShared = !this.#open.has(taskId) && (await this.#isShared(taskId));
    const log = this.#open.get(taskId) ?? (isShared ? this.#copyOf(taskId) : new LogFile(this.#fileOf(taskId)));
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

  #copyOf(taskId: number): SharedLogFile {
    return new SharedLogFile(path.join(this.#copies, logPath(taskId)), taskId, this.#parts!);
  }

  /** A folder holds a thousand tasks. */
  #fileOf(taskId: number): string {
    return path.join(this.#folder, logPath(taskId));
  }
}
