import type { Worker } from 'node:worker_threads';
import { embedded } from '../embedded/index.ts';
import type { WriterError, WriterOptions, WriterReply, WriterRequest } from './writer-protocol.ts';

/** An error of SQLite in the writing thread. */
export class SqliteError extends Error {
  readonly errcode: number;

  constructor({ message, errcode }: WriterError) {
    super(message);
    this.name = 'SqliteError';
    this.errcode = errcode;
  }
}

/** The writing thread has ended; nothing can be written any more. */
export class WriterEnded extends Error {
  /** SQLite's code, if an SQLite error ended the thread. */
  readonly errcode: number | undefined;

  constructor(cause?: Error & { errcode?: number }) {
    super(cause?.message ?? 'the database thread has ended', { cause });
    this.name = 'WriterEnded';
    this.errcode = cause?.errcode;
  }
}

interface Waiting {
  resolve(reply: Exclude<WriterReply, { error: WriterError }>): void;
  reject(error: Error): void;
}

/**
 * The main thread's side of the write connection: statements go to the thread in order, with one reply each. Has the
 * few methods that TypeORM's driver calls on a `better-sqlite3` connection besides `prepare`.
 */
export class WriterConnection {
  readonly #worker: Worker;
  readonly #waiting = new Map<number, Waiting>();
  #lastId = 0;
  #ended: Error | null = null;
  #closing = false;

  /**
   * @param timeout time that a statement waits for another process's lock, in milliseconds
   */
  constructor(file: string, { timeout }: { timeout: number }) {
    const options: WriterOptions = { file, busyTimeoutMs: timeout };
    this.#worker = embedded.startWorker('db-writer', { workerData: options });
    this.#waiting.set(0, { resolve: () => this.#rest(), reject: () => {} });
    this.#worker.on('message', (reply: WriterReply) => this.#settle(reply));
    this.#worker.on('error', (error) => this.#end(new WriterEnded(error)));
    this.#worker.on('exit', () => this.#end(new WriterEnded()));
  }

  /** Runs one statement. */
  query(sql: string, parameters: unknown[]) {
    return this.#send({ id: ++this.#lastId, kind: 'query', sql, parameters });
  }

  /** TypeORM sets pragmas through this without awaiting; the thread runs them in order. */
  pragma(text: string): unknown[] {
    this.query(`PRAGMA ${text}`, []).catch(() => {});
    return [];
  }

  /** Ends the thread after all earlier statements. */
  async close(): Promise<void> {
    if (this.#closing) return;
    this.#closing = true;
    if (this.#ended === null) await this.#send({ id: ++this.#lastId, kind: 'close' });
    await this.#worker.terminate();
  }

  #send(request: WriterRequest) {
    return new Promise<Exclude<WriterReply, { error: WriterError }>>((resolve, reject) => {
      if (this.#ended !== null) return reject(this.#ended);
      // Comes first, because a value that cannot be cloned to the thread throws here.
      this.#worker.postMessage(request);
      this.#waiting.set(request.id, { resolve, reject });
      this.#worker.ref();
    });
  }

  #settle(reply: WriterReply): void {
    const waiting = this.#waiting.get(reply.id);
    this.#waiting.delete(reply.id);
    this.#rest();
    if ('error' in reply) waiting?.reject(new SqliteError(reply.error));
    else waiting?.resolve(reply);
  }

  /** Without pending requests the thread must not keep a finished command alive. */
  #rest(): void {
    if (this.#waiting.size === 0) this.#worker.unref();
  }

  #end(error: Error): void {
    this.#ended ??= error;
    for (const { reject } of this.#waiting.values()) reject(this.#ended);
    this.#waiting.clear();
  }
}
