import { unavailable } from '../../kernel/index.ts';

/**
 * Limits of concurrent fetches per host: in total, equal to the connection limit of `outbound`, and for unknown
 * signers, which leaves one reserved.
 */
const slotsPerHost = 4;
const slotsForUnknown = 3;
/** Queue limits for fetches of unknown signers per host: in total and per network. */
const maxWaiting = 32;
const maxWaitingPerNetwork = 8;
/** The sender gives up after 10 s, and the fetch may need several of these waits. */
const maxWaitMs = 5_000;
/** In seconds: a delivery is first retried after a minute (SPEC §3). */
const retryAfterSeconds = 60;

/**
 * The origin of a fetch: `trusted` is this server itself or a signer whose stored key matches the request; all others
 * wait in the queue of their network.
 */
export type FetchRequester = 'trusted' | { network: string };

interface Waiting {
  start(): void;
  reject(error: unknown): void;
}

/**
 * Limits the fetches to each host, fair between the networks that cause them. Differs from the kernel's semaphore:
 * networks are served round-robin, one slot is reserved, and a full queue drops the newest request of the network with
 * the most requests.
 */
export class FetchQueue {
  readonly #hosts = new Map<string, HostFetches>();

  /** Throws `host_busy` when the queue is full or too slow. */
  async run<T>(host: string, asker: FetchRequester, work: () => Promise<T>): Promise<T> {
    const fetches = this.#hosts.get(host) ?? new HostFetches(host);
    this.#hosts.set(host, fetches);
    try {
      await fetches.enter(asker);
      try {
        return await work();
      } finally {
        fetches.leave(asker);
      }
    } finally {
      if (fetches.isIdle) this.#hosts.delete(host);
    }
  }
}

class HostFetches {
  readonly #host: string;
  #running = 0;
  #runningUnknown = 0;
  readonly #trusted: Waiting[] = [];
  /** In round-robin order, starting with the next network. */
  readonly #networks = new Map<string, Waiting[]>();
  #waiting = 0;

  constructor(host: string) {
    this.#host = host;
  }

  get isIdle(): boolean {
    return this.#running === 0 && this.#waiting === 0 && this.#trusted.length === 0;
  }

  async enter(asker: FetchRequester): Promise<void> {
    if (this.#mayStart(asker)) return this.#begin(asker);
    if (asker === 'trusted') {
      // One slot is reserved for trusted fetches, so anonymous clients cannot block this queue.
      return new Promise((resolve, reject) => this.#trusted.push({ start: resolve, reject }));
    }
    const line = this.#networks.get(asker.network) ?? [];
    if (line.length >= maxWaitingPerNetwork) throw this.#busy();
    if (this.#waiting >= maxWaiting) this.#rejectOneOfTheBusiest(line.length);
    await new Promise<void>((resolve, reject) => {
      const waiting = { start: resolve, reject };
      const timer = setTimeout(() => {
        this.#remove(asker.network, waiting);
        reject(this.#busy());
      }, maxWaitMs);
      waiting.start = () => {
        clearTimeout(timer);
        resolve();
      };
      waiting.reject = (error) => {
        clearTimeout(timer);
        reject(error);
      };
      line.push(waiting);
      this.#networks.set(asker.network, line);
      this.#waiting += 1;
    });
  }

  leave(asker: FetchRequester): void {
    this.#running -= 1;
    if (asker !== 'trusted') this.#runningUnknown -= 1;
    while (this.#trusted.length > 0 && this.#mayStart('trusted')) {
      this.#begin('trusted');
      this.#trusted.shift()!.start();
    }
    for (const [network, line] of this.#networks) {
      if (!this.#mayStart({ network })) break;
      const [next] = line;
      this.#remove(network, next!);
      // Appended at the end, for round-robin between the networks.
      if (line.length > 0) {
        this.#networks.delete(network);
        this.#networks.set(network, line);
      }
      this.#begin({ network });
      next!.start();
    }
  }

  #mayStart(asker: FetchRequester): boolean {
    if (this.#running >= slotsPerHost) return false;
    return asker === 'trusted' || this.#runningUnknown < slotsForUnknown;
  }

  #begin(asker: FetchRequester): void {
    this.#running += 1;
    if (asker !== 'trusted') this.#runningUnknown += 1;
  }

  #remove(network: string, waiting: Waiting): void {
    const line = this.#networks.get(network);
    const index = line?.indexOf(waiting) ?? -1;
    if (line === undefined || index === -1) return;
    line.splice(index, 1);
    this.#waiting -= 1;
    if (line.length === 0) this.#networks.delete(network);
  }

  /** A network with fewer queued fetches than the longest queue takes a slot from it. */
  #rejectOneOfTheBusiest(own: number): void {
    const [network, line] = [...this.#networks].reduce((a, b) => (b[1].length > a[1].length ? b : a));
    if (line.length <= own + 1) throw this.#busy();
    const last = line.at(-1)!;
    this.#remove(network, last);
    last.reject(this.#busy());
  }

  #busy(): Error {
    return unavailable('host_busy', `Too many requests to ${this.#host} are pending.`, { retryAfterSeconds });
  }
}
