import type { Worker } from 'node:worker_threads';
import type { TaskMessage, TaskReply } from './messages.ts';

/** How a task ended in its thread. */
export type SlotOutcome =
  | { kind: 'done'; result: Uint8Array; cpuMs: number }
  | { kind: 'result_too_large' | 'deadline' | 'memory'; cpuMs: number }
  | { kind: 'failed'; message: string; cpuMs: number };

export interface SlotRequest extends Omit<TaskMessage, 'id'> {
  /** From when the task begins; what it needs is loaded by then. */
  deadlineMs: number;
  /** Called when the task begins: from now on it ends within its deadline. */
  onBegin(): void;
}

/** A thread that has not loaded what a task needs after this long never will; grammars take seconds on a busy machine. */
const maxLoadingMs = 30_000;

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
    const id = (this.#lastId += 1);
    let timer: NodeJS.Timeout | undefined;
    let begunAt = performance.now();
    let hasReplied = false;
    const outcome = await new Promise<SlotOutcome>((resolve) => {
      const late = (outcome: SlotOutcome, afterMs: number): void => {
        clearTimeout(timer);
        // Where this thread itself was busy the answer may be here already: it is read before the verdict.
        timer = setTimeout(() => setImmediate(resolve, outcome), afterMs);
      };
      this.#gone = (outcome) => resolve({ ...outcome, cpuMs: performance.now() - begunAt });
      this.#reply = (reply) => {
        if (reply.id !== id) return;
        if (reply.kind === 'begun') {
          begunAt = performance.now();
          onBegin();
          late({ kind: 'deadline', cpuMs: deadlineMs }, deadlineMs);
        } else {
          hasReplied = true;
          resolve(reply);
        }
      };
      late({ kind: 'failed', message: 'the thread did not get ready', cpuMs: 0 }, maxLoadingMs);
      worker.postMessage({ id, ...request } satisfies TaskMessage, [request.input.buffer as ArrayBuffer]);
    });
    clearTimeout(timer);
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
