import type { Worker } from 'node:worker_threads';
import type { HighlightAnswer, HighlightTask } from './highlight-worker.ts';

export interface SeatLimits {
  /** How long a task waits for a thread that comes up, and for its answer, in milliseconds. */
  readyMs: number;
  deadlineMs: number;
  /** A thread without work ends after this long, and gives its memory back. */
  idleMs: number;
}

/** A thread that is not up after this long never will be. */
const maxLoadingMs = 30_000;

/**
 * A place for one thread. It is started when there is work, ended when it does not
 * answer in time, and started anew for the next task: grammars are made of regular
 * expressions, and somebody's file may make one of them run for ever.
 */
export class WorkerSeat {
  readonly #start: () => Worker;
  readonly #limits: SeatLimits;
  #worker: Worker | null = null;
  #ready: Promise<boolean> = Promise.resolve(false);
  #answer: ((lines: string[] | null) => void) | null = null;
  #idle: NodeJS.Timeout | undefined;
  #tasks = 0;
  #openedAt = 0;

  constructor(start: () => Worker, limits: SeatLimits) {
    this.#start = start;
    this.#limits = limits;
  }

  get isRunning(): boolean {
    return this.#worker !== null;
  }

  /** Lines of HTML; null when the thread gave up or was ended, undefined when it is not up yet. One task at a time. */
  async run(task: Omit<HighlightTask, 'id'>): Promise<string[] | null | undefined> {
    clearTimeout(this.#idle);
    const worker = this.#worker ?? this.#open();
    const isReady = await within<boolean | null>(this.#ready, this.#limits.readyMs, null);
    // A busy machine takes its time; what was loaded so far is not thrown away, the next task may find it up.
    if (isReady === null && performance.now() - this.#openedAt < maxLoadingMs) return undefined;
    if (isReady !== true) {
      this.end();
      return null;
    }
    const answered = new Promise<string[] | null>((resolve) => (this.#answer = resolve));
    this.#tasks += 1;
    worker.postMessage({ ...task, id: this.#tasks } satisfies HighlightTask);
    const late = Symbol('late');
    const lines = await within<string[] | null | symbol>(answered, this.#limits.deadlineMs, late);
    this.#answer = null;
    if (typeof lines === 'symbol') {
      this.end();
      return null;
    }
    this.#idle = setTimeout(() => this.end(), this.#limits.idleMs).unref();
    return lines;
  }

  end(): void {
    clearTimeout(this.#idle);
    const worker = this.#worker;
    this.#worker = null;
    this.#answer?.(null);
    void worker?.terminate();
  }

  #open(): Worker {
    const worker = this.#start();
    this.#worker = worker;
    this.#openedAt = performance.now();
    this.#ready = new Promise((resolve) => {
      worker.on('message', ({ id, lines }: HighlightAnswer) => {
        if (id === 0) resolve(true);
        else if (id === this.#tasks && worker === this.#worker) this.#answer?.(lines);
      });
      worker.on('error', () => resolve(false));
      worker.on('exit', () => {
        resolve(false);
        if (worker === this.#worker) this.end();
      });
    });
    // After the listeners: each of them would have the program wait for the thread again.
    worker.unref();
    return worker;
  }
}

async function within<T>(promise: Promise<T>, ms: number, otherwise: T): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<T>((resolve) => (timer = setTimeout(() => resolve(otherwise), ms)));
  return Promise.race([promise, late]).finally(() => clearTimeout(timer));
}
