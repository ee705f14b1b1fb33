import type { Worker } from 'node:worker_threads';
import { embedded } from '../embedded/index.ts';
import { unavailable } from '../kernel/index.ts';
import type { ThreadOptions, ThreadReply, ThreadRow, ThreadStatement } from './thread-protocol.ts';
import { SqliteError } from './writer-connection.ts';

/** How much a thread may be asked, and how long one question may take. */
export interface ThreadLimits {
  /** Milliseconds for one request, once it has its turn. */
  requestMs: number;
  /** Requests that may wait for their turn. */
  queue: number;
  /** KiB of the file's pages that its connection may keep, once it has read them; 16 MiB unless told. */
  cacheKiB?: number;
}

/** A connection in a thread of its own. It starts with the first request and costs nothing before. */
export interface DatabaseThread {
  /**
   * Runs statements in one transaction and answers the rows of each.
   * Refuses with `unavailable`: `took_too_long`, and then the thread is given up and the
   * next request gets a new one; `too_many_waiting`; `stopping`.
   */
  ask(statements: ThreadStatement[]): Promise<ThreadRow[][]>;
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
const stopping = () => unavailable('stopping', 'The server is stopping.', { retryAfterSeconds: 5 });

export function openDatabaseThread(options: ThreadOptions, limits: ThreadLimits): DatabaseThread {
  /** In the order they were asked, which is the order of the answers. */
  const waiting = new Map<number, Waiting>();
  let worker: Worker | null = null;
  let isReady = false;
  let lastId = 0;
  let timer: NodeJS.Timeout | undefined;
  let isClosed = false;

  /** The clock runs for the request whose turn it is, and the thread keeps the program alive only while it works. */
  function watch(): void {
    clearTimeout(timer);
    if (waiting.size === 0) return void worker?.unref();
    worker?.ref();
    if (isReady) timer = setTimeout(() => end(tookTooLong()), limits.requestMs);
  }

  function start(): Worker {
    const started = embedded.startWorker('db-side', { workerData: options });
    isReady = false;
    started.on('message', (reply: ThreadReply) => {
      if (started !== worker) return;
      isReady = true;
      const asked = waiting.get(reply.id);
      waiting.delete(reply.id);
      watch();
      if ('error' in reply) asked?.reject(new SqliteError(reply.error));
      else asked?.resolve(reply.rows);
    });
    started.on('error', (error) => started === worker && end(error));
    return started;
  }

  /** Gives the thread up in the middle of its work. Those behind it in the queue are told to come again. */
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
    ask(statements) {
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
