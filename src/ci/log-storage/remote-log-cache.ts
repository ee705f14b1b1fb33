import { createWriteStream } from 'node:fs';
import { mkdir, rename, rm } from 'node:fs/promises';
import path from 'node:path';
import { pipeline } from 'node:stream/promises';
import { createKeyedMutex, createLru } from '../../kernel/index.ts';
import type { ObjectStore } from '../../objects/index.ts';
import { LogView } from './log-file.ts';

export const logPrefix = 'logs/';

/** Path of a log below the folder of logs; a folder holds a thousand tasks. */
export const logPath = (taskId: number): string => `${Math.floor(taskId / 1000)}/${taskId}.log`;

export const logKey = (taskId: number): string => logPrefix + logPath(taskId);

const keptBytes = 512 * 1024 * 1024;
const maxFiles = 200;

/** Local copies of logs from the bucket: pages read them many times, and at any row. */
export class RemoteLogCache {
  readonly #folder: string;
  readonly #objects: ObjectStore;
  readonly #inTurn = createKeyedMutex<number>();
  readonly #logs = createLru<number, LogView>({
    name: 'fetched logs',
    maxWeight: keptBytes,
    maxEntries: maxFiles,
    weigh: ({ bytes }) => Math.min(bytes, keptBytes),
    onEvict: (_, taskId) => void rm(this.#fileOf(taskId), { force: true }).catch(() => undefined),
  });

  /**
   * @param folder created if necessary
   */
  constructor(folder: string, objects: ObjectStore) {
    this.#folder = folder;
    this.#objects = objects;
  }

  /** Null if the store does not have the log. Throws `object_store_unavailable`. */
  open(taskId: number): Promise<LogView | null> {
    const known = this.#logs.get(taskId);
    if (known !== undefined) return Promise.resolve(known);
    return this.#inTurn(taskId, async () => this.#logs.peek(taskId) ?? this.#fetch(taskId));
  }

  forget(taskId: number): void {
    this.#logs.delete(taskId);
  }

  /** Called at start: removes the copies of an earlier process. */
  async clear(): Promise<void> {
    await rm(this.#folder, { recursive: true, force: true });
  }

  async #fetch(taskId: number): Promise<LogView | null> {
    const opened = await this.#objects.get(logKey(taskId));
    if (opened === null) return null;
    await mkdir(this.#folder, { recursive: true, mode: 0o700 });
    const file = this.#fileOf(taskId);
    const part = `${file}.part`;
    try {
      await pipeline(opened.stream, createWriteStream(part, { mode: 0o600 }));
      await rename(part, file);
    } catch (error) {
      await rm(part, { force: true });
      throw error;
    }
    const log = new LogView(file);
    await log.load();
    this.#logs.set(taskId, log);
    return log;
  }

  #fileOf(taskId: number): string {
    return path.join(this.#folder, `${taskId}.log`);
  }
}
