import type { Worker } from 'node:worker_threads';
import type { TaskMessage, TaskReply } from './messages.ts';

/** How a task ended in its thread. */
export type SlotOutcome =
  | { kind: 'done'; result: Uint8Array; cpuMs: number }
  | { kind: 'result_too_large' | 'deadline' | 'memory'; cpuMs: number }
  | { kind: 'failed'; message: string; cpuMs: number };

export interface SlotRequest extends Omit<TaskMessage, 'id'> {
  /** In processor time, from when the task begins; what it needs is loaded by then. */
  deadlineMs: number;
  /** Called when the task begins: from now on it ends within its deadline. */
  onBegin(): void;
}

/** A thread that has not loaded what a task needs after this long never will; grammars take seconds on a busy machine. */
const maxLoadingMs = 30_000;

/** A thread that has ended by itself has told so already. */
const ignore = (): void => {};

/**
 * On a machine with other work a thread has a part of a processor only, and an ordinary file
 * would be given up for it; after this many times its deadline a task is given up all the same.
 */
const maxWaitFactor = 3;
/** Less than this is not worth another look. */
const shortestMs = 5;

/**
 * A place for one thread. The thread is started when there is work, terminated when a
 * task exceeds its deadline or the thread its memory, and started anew for the next task.
 */
export class WorkerSlot {
  readonly #start: () => Worker;
  readonly #idleMs: number;
  #worker: Worker | null = null;
  #idle: NodeJS.Timeout | undefined;
  #reply: ((reply: TaskReply) => void) | null = null;
  #gone: ((outcome: SlotOutcome) => void) | null = null;
  #lastId = 0;

  /** @param idleMs a thread without work is ended after this long, and gives its memory back */
  constructor(start: () => Worker, idleMs: number) {
    this.#start = start;
    this.#idleMs = idleMs;
  }

  get isRunning(): boolean {
    return this.#worker !== null;
  }

  /** One task at a time. */
  async run({ deadlineMs, onBegin, ...request }: SlotRequest): Promise<SlotOutcome> {
    clearTimeout(this.#idle);
    const worker = this.#worker ?? this.#open();
    // The program waits for a thread at work, and for no other.
    worker.ref();
    const id = (this.#lastId += 1);
    let timer: NodeJS.Timeout | undefined;
    let begunAt = performance.now();
    let hasReplied = false;
    const outcome = await new Promise<SlotOutcome>((resolve) => {
      // Where this thread itself was busy the answer may be here already: it is read before the verdict.
      const later = (act: () => void, afterMs: number): void => {
        clearTimeout(timer);
        timer = setTimeout(() => setImmediate(act), afterMs);
      };
      const watch = (cpuMsBefore: number, afterMs: number): void =>
        later(() => {
          const restMs = Math.max(0, maxWaitFactor * deadlineMs - (performance.now() - begunAt));
          // Inside one call of a library a thread may not even answer this.
          later(() => resolve({ kind: 'deadline', cpuMs: deadlineMs }), restMs);
          void worker.cpuUsage().then(({ user, system }) => {
            const cpuMs = (user + system) / 1000 - cpuMsBefore;
            const moreMs = Math.min(deadlineMs - cpuMs, restMs);
            if (moreMs < shortestMs) resolve({ kind: 'deadline', cpuMs });
            else if (!hasReplied) watch(cpuMsBefore, moreMs);
          }, ignore);
        }, afterMs);
      this.#gone = (outcome) => resolve({ ...outcome, cpuMs: performance.now() - begunAt });
      this.#reply = (reply) => {
        if (reply.id !== id) return;
        if (reply.kind === 'begun') {
          begunAt = performance.now();
          onBegin();
          watch(reply.threadCpuMs, deadlineMs);
        } else {
          hasReplied = true;
          resolve(reply);
        }
      };
      later(() => resolve({ kind: 'failed', message: 'the thread did not get ready', cpuMs: 0 }), maxLoadingMs);
      worker.postMessage({ id, ...request } satisfies TaskMessage, [request.input.buffer as ArrayBuffer]);
    });
    clearTimeout(timer);
    worker.unref();
    this.#reply = null;
    this.#gone = null;
    if (!hasReplied) this.end();
    else if (this.#worker !== null) this.#idle = setTimeout(() => this.end(), this.#idleMs).unref();
    return outcome;
  }

  end(): void {
    clearTimeout(this.#idle);
    const worker = this.#worker;
    this.#worker = null;
    this.#gone?.({ kind: 'failed', message: 'the thread was ended', cpuMs: 0 });
    void worker?.terminate();
  }

  #open(): Worker {
    const worker = this.#start();
    this.#worker = worker;
    const lose = (outcome: SlotOutcome): void => {
      if (worker !== this.#worker) return;
      this.#worker = null;
      this.#gone?.(outcome);
    };
    worker.on('message', (reply: TaskReply) => {
      if (worker === this.#worker) this.#reply?.(reply);
    });
    worker.on('error', (error: NodeJS.ErrnoException) => {
      const isMemory = error.code === 'ERR_WORKER_OUT_OF_MEMORY';
      lose(
        isMemory ? { kind: 'memory', cpuMs: 0 } : { kind: 'failed', message: String(error.message ?? error), cpuMs: 0 },
      );
    });
    worker.on('exit', () => lose({ kind: 'failed', message: 'the thread ended', cpuMs: 0 }));
    // After the listeners: each of them would have the program wait for the thread again.
    worker.unref();
    return worker;
  }
}
