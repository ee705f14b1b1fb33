import type { Worker } from 'node:worker_threads';
import { embedded } from '../embedded/index.ts';
import { unavailable } from '../kernel/index.ts';
import type { ThreadOptions, ThreadReply, ThreadRow, ThreadStatement } from './thread-protocol.ts';
import { SqliteError } from './writer-connection.ts';

/** Queue length and time limit of a thread. */
export interface ThreadLimits {
  /** Time limit per request from its start, in milliseconds. */
  requestMs: number;
  /** Maximum number of waiting requests. */
  queue: number;
  /** Page cache of the connection in KiB; 16 MiB by default. */
  cacheKiB?: number;
  /** Idle time in milliseconds after which the thread ends, to release its memory; it stays if omitted. */
  idleMs?: number;
}

/** A read-only connection in a worker thread. The thread starts with the first request. */
export interface DatabaseThread {
  /**
   * Runs statements in one transaction and returns the rows of each. Throws `unavailable`: `took_too_long`, after which
   * the thread is terminated and the next request starts a new one; `too_many_waiting`; `stopping`.
   */
  run(statements: ThreadStatement[]): Promise<ThreadRow[][]>;
  close(): Promise<void>;
}

interface Waiting {
  resolve(rows: ThreadRow[][]): void;
  reject(error: Error): void;
}

const tookTooLong = () =>
  unavailable('took_too_long', 'This takes the server too long. Ask for something more specific.', {
    retryAfterSeconds: 5,
  });
const tooManyWaiting = () =>
  unavailable('too_many_waiting', 'Too many people ask for this at once. Please try again in a moment.', {
    retryAfterSeconds: 2,
  });
const stopping = () => unavailable('stopping', 'The server is shutting down.', { retryAfterSeconds: 5 });

export function openDatabaseThread(options: ThreadOptions, limits: ThreadLimits): DatabaseThread {
  /** Queue in the order of requests, which is the order of replies. */
  const waiting = new Map<number, Waiting>();
  let worker: Worker | null = null;
  let isReady = false;
  let lastId = 0;
  let timer: NodeJS.Timeout | undefined;
  let isClosed = false;

  /** The time limit applies to the running request, and the thread keeps the process alive only while it works. */
  function watch(): void {
    clearTimeout(timer);
    if (waiting.size === 0) {
      worker?.unref();
      if (limits.idleMs !== undefined) timer = setTimeout(rest, limits.idleMs).unref();
      return;
    }
    worker?.ref();
    if (isReady) timer = setTimeout(() => end(tookTooLong()), limits.requestMs);
  }

  /** Nothing is waiting: the next request starts a new thread. */
  function rest(): void {
    void worker?.terminate();
    worker = null;
  }

  function start(): Worker {
    const started = embedded.startWorker('db-side', { workerData: options });
    isReady = false;
    started.on('message', (reply: ThreadReply) => {
      if (started !== worker) return;
      isReady = true;
      const request = waiting.get(reply.id);
      waiting.delete(reply.id);
      watch();
      if ('error' in reply) request?.reject(new SqliteError(reply.error));
      else request?.resolve(reply.rows);
    });
    started.on('error', (error) => started === worker && end(error));
    return started;
  }

  /** Terminates the thread during its work. Rejects queued requests with a hint to retry. */
  function end(error: Error, forOthers: Error = tooManyWaiting()): void {
    const [first, ...others] = waiting.values();
    waiting.clear();
    watch();
    void worker?.terminate();
    worker = null;
    first?.reject(error);
    for (const other of others) other.reject(forOthers);
  }

  return {
    run(statements) {
      return new Promise((resolve, reject) => {
        if (isClosed) return reject(stopping());
        if (waiting.size >= limits.queue) return reject(tooManyWaiting());
        worker ??= start();
        const id = ++lastId;
        worker.postMessage({ id, statements });
        waiting.set(id, { resolve, reject });
        if (waiting.size === 1) watch();
      });
    },
    async close() {
      isClosed = true;
      const ending = worker?.terminate();
      end(stopping(), stopping());
      await ending;
    },
  };
}
