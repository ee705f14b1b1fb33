import type { Worker } from 'node:worker_threads';
import type { TaskMessage, TaskReply } from './messages.ts';

/** The outcome of a task in its thread. */
export type SlotOutcome =
  | { kind: 'done'; result: Uint8Array; cpuMs: number }
  | { kind: 'result_too_large' | 'deadline' | 'memory'; cpuMs: number }
  | { kind: 'failed'; message: string; cpuMs: number };

interface SlotRequest extends Omit<TaskMessage, 'id'> {
  /** CPU time from the start of the task, without loading. */
  deadlineMs: number;
  /** Called when the task begins: from now on it ends within its deadline. */
  onBegin(): void;
}

/** Loading exceeds this time only if it fails; grammars take seconds on a busy machine. */
const maxLoadingMs = 30_000;

/** A thread that has exited by itself has already reported that. */
const ignore = (): void => {};

/**
 * On a busy machine a thread gets only a part of a CPU, so elapsed time alone would terminate ordinary files; after
 * this multiple of its deadline a task is always terminated.
 */
const maxWaitFactor = 3;
/** The shortest interval between checks of the deadline. */
const shortestMs = 5;

/**
 * A slot for one thread. Starts the thread on demand, terminates it when a task exceeds its deadline or the thread its
 * memory limit, and restarts it for the next task.
 */
export class WorkerSlot {
  readonly #start: () => Worker;
  readonly #idleMs: number;
  #worker: Worker | null = null;
  #idle: NodeJS.Timeout | undefined;
  #reply: ((reply: TaskReply) => void) | null = null;
  #gone: ((outcome: SlotOutcome) => void) | null = null;
  #lastId = 0;

  /**
   * @param idleMs time after which an idle thread is stopped, to release its memory
   */
  constructor(start: () => Worker, idleMs: number) {
    this.#start = start;
    this.#idleMs = idleMs;
  }

  get isRunning(): boolean {
    return this.#worker !== null;
  }

  /** Runs one task at a time. */
  async run({ deadlineMs, onBegin, ...request }: SlotRequest): Promise<SlotOutcome> {
    clearTimeout(this.#idle);
    const worker = this.#worker ?? this.#open();
    // A busy thread keeps the process alive, an idle one does not.
    worker.ref();
    const id = (this.#lastId += 1);
    let timer: NodeJS.Timeout | undefined;
    let begunAt = performance.now();
    let hasReplied = false;
    const outcome = await new Promise<SlotOutcome>((resolve) => {
      // If this thread was blocked, the reply may already be queued: it is read before the decision.
      const later = (act: () => void, afterMs: number): void => {
        clearTimeout(timer);
        timer = setTimeout(() => setImmediate(act), afterMs);
      };
      const watch = (cpuMsBefore: number, afterMs: number): void =>
        later(() => {
          const restMs = Math.max(0, maxWaitFactor * deadlineMs - (performance.now() - begunAt));
          // During a call of a library, a thread cannot even reply to this.
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
    // Called after adding listeners, each of which would keep the process alive.
    worker.unref();
    return worker;
  }
}
