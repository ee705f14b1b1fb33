import { setTimeout as wait } from 'node:timers/promises';

const retryWriteMs = 500;
/**
 * Results that arrive within this time in milliseconds are written together: a write costs as much as several attempts.
 */
const batchMs = 3;
const batchSize = 16;
/** Interval in milliseconds at which a long drain looks for keys that were not due at its start. */
const rescanMs = 10_000;

/** A message that this process holds until its lease ends. */
export interface Leased {
  readonly id: number;
  readonly key: string;
  /** Milliseconds since the epoch; proves that this process still holds the lease. */
  readonly leaseUntil: number;
}

/** Limits of one key. */
export interface KeyLimits {
  /** Limit of messages in flight. */
  inFlight: number;
  /** Limit of messages per claim. */
  claim: number;
}

export interface Finished<Item, Result> {
  item: Item;
  result: Result;
}

/** One write of a drain: records results, releases messages and claims others. */
interface WriteBatch<Item, Result> {
  finished: readonly Finished<Item, Result>[];
  /** Claimed messages to be returned without an attempt. */
  released: readonly Item[];
  /** Claimed messages without an attempt so far, by key. */
  waiting: ReadonlyMap<string, readonly Item[]>;
  /** Keys for which to claim, with limits. */
  wanted: readonly { key: string; limit: number }[];
}

/** A table of messages for a drain, and the policy of its keys. Created for each drain. */
export interface Queue<Item extends Leased, Result, Report> {
  /** Limit of messages in flight, over all keys. */
  readonly slots: number;
  /** Limit of keys with claimed messages; bounds the number of messages that wait under a lease. */
  readonly maxKeys: number;
  /** A lease that ends within this time is not used: another process may have the message when the result arrives. */
  readonly leaseMarginMs: number;
  readonly report: Report;
  now(): number;
  /** Keys with due messages. */
  dueKeys(): Promise<ReadonlyMap<string, KeyLimits>>;
  /** Never rejects. */
  attempt(item: Item, signal: AbortSignal): Promise<Result>;
  /**
   * Effect of a result on its key: new limits; `down`: nothing more is sent to it, and the write of this result
   * releases or completes its waiting messages; null: none.
   */
  limitsAfter(result: Result): KeyLimits | 'down' | null;
  /** Runs one write and returns the claimed messages. If it rejects, the results are retained and written later. */
  write(batch: WriteBatch<Item, Result>): Promise<readonly Item[]>;
  written(finished: readonly Finished<Item, Result>[]): void;
  notWritten(finished: readonly Finished<Item, Result>[], error: unknown): void;
}

export interface Drain<Report> {
  /** Handles all due messages. Only one run is active; a second call joins it and makes it rescan. */
  drain(): Promise<Report | null>;
  /** Aborts messages in flight without counting the attempt, and releases claimed ones. */
  stop(): Promise<void>;
}

export function createDrain<Item extends Leased, Result, Report>(
  makeQueue: () => Queue<Item, Result, Report>,
): Drain<Report> {
  const stopping = new AbortController();
  let run: DrainRun<Item, Result, Report> | null = null;
  let done: Promise<Report> | null = null;
  return {
    async drain() {
      if (stopping.signal.aborted) return null;
      // A run after its last scan of the queue would miss the message of this call.
      if (run?.isOver === false) run.rescan();
      else {
        run = new DrainRun(makeQueue(), stopping.signal);
        done = run.run();
      }
      return done;
    },
    async stop() {
      stopping.abort(new Error('the server stops'));
      await done?.catch(() => {});
    },
  };
}

/** Claimed messages of one key, and its limit of messages in flight. */
class KeyQueue<Item> {
  readonly key: string;
  readonly waiting: Item[] = [];
  /** Number of messages in flight, or finished and not yet written. */
  held = 0;
  limits: KeyLimits;
  mayHaveMore = true;
  isDown = false;

  constructor(key: string, limits: KeyLimits) {
    this.key = key;
    this.limits = limits;
  }

  get wantsMore(): boolean {
    return this.mayHaveMore && !this.isDown && this.waiting.length === 0;
  }

  get isIdle(): boolean {
    return this.held === 0 && this.waiting.length === 0;
  }
}

/**
 * One run through a queue, in rounds: one write records results and claims messages, then free slots are filled key by
 * key. A slot is free again only once its result is written, so after a crash at most `slots` messages are handled
 * twice.
 */
class DrainRun<Item extends Leased, Result, Report> {
  isOver = false;
  readonly #queue: Queue<Item, Result, Report>;
  readonly #signal: AbortSignal;
  /** The least recently served key comes first. */
  readonly #keys = new Map<string, KeyQueue<Item>>();
  #finished: Finished<Item, Result>[] = [];
  #held = 0;
  #isRescanWanted = true;
  #wake = (): void => {};

  constructor(queue: Queue<Item, Result, Report>, signal: AbortSignal) {
    this.#queue = queue;
    this.#signal = signal;
  }

  rescan(): void {
    this.#isRescanWanted = true;
    this.#wake();
  }

  async run(): Promise<Report> {
    const rescans = setInterval(() => this.rescan(), rescanMs);
    try {
      do {
        const came = new Promise<void>((resolve) => (this.#wake = resolve));
        if (this.#isRescanWanted) await this.#findKeys();
        await this.#writeBatch();
        this.#fillSlots();
        this.#removeIdleKeys();
        if (this.#held > 0 && this.#finished.length === 0) await came;
        if (this.#finished.length < Math.min(batchSize, this.#held)) await wait(batchMs);
      } while (this.#keys.size > 0 || (this.#isRescanWanted && !this.#signal.aborted));
      return this.#queue.report;
    } finally {
      this.isOver = true;
      clearInterval(rescans);
    }
  }

  /** One slow key may keep a drain busy for hours; other keys must not wait for it. */
  async #findKeys(): Promise<void> {
    this.#isRescanWanted = false;
    for (const [key, limits] of await this.#queue.dueKeys()) {
      const known = this.#keys.get(key);
      if (known === undefined) this.#keys.set(key, new KeyQueue(key, limits));
      else known.mayHaveMore = true;
    }
  }

  #keysWithCapacity(): KeyQueue<Item>[] {
    if (this.#signal.aborted) return [];
    const queues = [...this.#keys.values()];
    const free = this.#queue.maxKeys - queues.filter((queue) => !queue.isIdle).length;
    let taken = 0;
    return queues.filter((queue) => queue.wantsMore && (!queue.isIdle || ++taken <= free));
  }

  /** Writes one batch. If the database cannot be written, the results are retained and written later. */
  async #writeBatch(): Promise<void> {
    const queues = [...this.#keys.values()];
    const finished = this.#finished;
    const keysWithCapacity = this.#keysWithCapacity();
    const released = this.#signal.aborted ? queues.flatMap(({ waiting }) => waiting.splice(0)) : [];
    if (finished.length === 0 && keysWithCapacity.length === 0 && released.length === 0) return;
    this.#finished = [];
    try {
      const claimed = await this.#queue.write({
        finished,
        released,
        waiting: new Map(queues.map(({ key, waiting }) => [key, waiting])),
        wanted: keysWithCapacity.map(({ key, limits }) => ({ key, limit: limits.claim })),
      });
      const byKey = Map.groupBy(claimed, ({ key }) => key);
      for (const queue of keysWithCapacity) {
        const items = byKey.get(queue.key) ?? [];
        queue.mayHaveMore = items.length === queue.limits.claim;
        queue.waiting.push(...items);
      }
      this.#queue.written(finished);
    } catch (error) {
      this.#queue.notWritten(finished, error);
      if (!this.#signal.aborted) {
        this.#finished.unshift(...finished);
        await wait(retryWriteMs);
        return;
      }
    }
    for (const each of finished) this.#freeSlot(each);
  }

  #freeSlot({ item, result }: Finished<Item, Result>): void {
    const queue = this.#keys.get(item.key)!;
    queue.held -= 1;
    this.#held -= 1;
    const limits = this.#queue.limitsAfter(result);
    if (limits === 'down') queue.waiting.length = 0;
    else if (limits !== null) queue.limits = limits;
  }

  /** Takes one message of each key in turn, so that a key with many messages does not delay the others. */
  #fillSlots(): void {
    if (this.#signal.aborted) return;
    const { slots, leaseMarginMs } = this.#queue;
    // A served key moves to the end of the map, where this loop reaches it again.
    for (const [key, queue] of this.#keys) {
      if (this.#held >= slots) break;
      const item = queue.isDown || queue.held >= queue.limits.inFlight ? undefined : queue.waiting.shift();
      if (item === undefined) continue;
      this.#keys.delete(key);
      this.#keys.set(key, queue);
      if (this.#queue.now() < item.leaseUntil - leaseMarginMs) this.#send(queue, item);
      else queue.mayHaveMore = true;
    }
  }

  #send(queue: KeyQueue<Item>, item: Item): void {
    queue.held += 1;
    this.#held += 1;
    void this.#queue.attempt(item, this.#signal).then((result) => {
      if (this.#queue.limitsAfter(result) === 'down') queue.isDown = true;
      this.#finished.push({ item, result });
      this.#wake();
    });
  }

  #removeIdleKeys(): void {
    for (const [key, queue] of this.#keys)
      if (queue.isIdle && (this.#signal.aborted || !queue.wantsMore)) this.#keys.delete(key);
  }
}
