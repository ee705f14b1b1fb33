import { setTimeout as wait } from 'node:timers/promises';
import { healthOf } from './peer-health.ts';
import type { FederationDeps } from '../deps.ts';
import { attempt, loadMessage } from './attempt-delivery.ts';
import type { OutboxMessage } from './attempt-delivery.ts';
import { claim, dueHosts, release } from './claim.ts';
import type { ClaimedDelivery, HostsWithCapacity } from './claim.ts';
import { settle } from './settle.ts';
import type { Attempt } from './settle.ts';
import { createStillPublic } from './still-public.ts';
import type { StillPublic } from './still-public.ts';

/** Rows taken at once for a host that answers, and for one that has to prove itself first. */
const claimAtOnce = 32;
const claimToProbe = 2;
/** A claim this near to its end is left alone: somebody else may already have the row when the answer comes. */
const leaseMarginMs = 15_000;
const cachedMessages = 64;
const retryWriteMs = 500;
/** Results that come in within this time are written down together: a write costs as much as several attempts. */
const gatherMs = 3;
const gathered = 16;
/** How old the note may be that a host answers: it is for people to read. */
const noteAgainMs = 10_000;
/** How often a long drain looks for hosts that were not due when it began. */
const lookAgainMs = 10_000;

/** How a drain went. */
export interface DeliveryReport {
  delivered: number;
  failed: number;
}

/** Works off the queue of deliveries. */
export interface DeliveryQueue {
  /** Sends everything that is due; one drain at a time, a second call joins it. */
  drain(): Promise<DeliveryReport>;
  /** Gives up what is under way, uncounted, and gives back what was claimed. */
  stop(): Promise<void>;
}

export function createDeliveryQueue(deps: FederationDeps): DeliveryQueue {
  const stopping = new AbortController();
  let running: Promise<DeliveryReport> | null = null;
  return {
    drain() {
      if (stopping.signal.aborted) return Promise.resolve({ delivered: 0, failed: 0 });
      return (running ??= new DeliveryRun(deps, stopping.signal).run().finally(() => (running = null)));
    },
    async stop() {
      stopping.abort();
      await running?.catch(() => {});
    },
  };
}

/** What waits for one host, and how much of it may be under way. */
class HostQueue {
  readonly host: string;
  readonly waiting: ClaimedDelivery[] = [];
  /** Under way, or answered and not yet written down. */
  held = 0;
  /** One until the host has answered: a hundred dead hosts then take a hundred places, not four hundred. */
  limit: number;
  mayHaveMore = true;
  isDown = false;
  /** When it was last written down that it answers as it should; milliseconds since the epoch. */
  notedAt = 0;

  constructor(host: string, limit: number) {
    this.host = host;
    this.limit = limit;
  }

  get wantsMore(): boolean {
    return this.mayHaveMore && !this.isDown && this.waiting.length === 0;
  }
}

/**
 * One run through the queue. In turns: write down what came back and claim more
 * in a single write, then fill the free places, host by host. A place is free
 * again only when its result is written: so after a crash no more than that
 * many activities are sent twice.
 */
class DeliveryRun {
  readonly #deps: FederationDeps;
  readonly #signal: AbortSignal;
  readonly #hosts = new Map<string, HostQueue>();
  readonly #parcels = new Map<string, Promise<OutboxMessage | null>>();
  readonly #isPublic: StillPublic;
  readonly #report: DeliveryReport = { delivered: 0, failed: 0 };
  #finished: Attempt[] = [];
  #held = 0;
  #looksAgain = true;
  #wake = (): void => {};

  constructor(deps: FederationDeps, signal: AbortSignal) {
    this.#deps = deps;
    this.#signal = signal;
    this.#isPublic = createStillPublic(deps);
  }

  async run(): Promise<DeliveryReport> {
    const look = setInterval(() => {
      this.#looksAgain = true;
      this.#wake();
    }, lookAgainMs);
    try {
      do {
        const came = new Promise<void>((resolve) => (this.#wake = resolve));
        if (this.#looksAgain) await this.#findHosts();
        await this.#takeTurn();
        this.#fillPlaces();
        this.#forgetIdleHosts();
        if (this.#held > 0 && this.#finished.length === 0) await came;
        if (this.#finished.length < Math.min(gathered, this.#held)) await wait(gatherMs);
      } while (this.#hosts.size > 0);
      return this.#report;
    } finally {
      clearInterval(look);
    }
  }

  /** One slow host may keep a drain busy for hours; the others must not wait for its end. */
  async #findHosts(): Promise<void> {
    this.#looksAgain = false;
    const { db, clock, settings } = this.#deps;
    const hosts = await dueHosts(db.read, clock.now());
    const health = await healthOf(db.read, hosts);
    for (const host of hosts) {
      const under = this.#hosts.get(host);
      if (under !== undefined) under.mayHaveMore = true;
      const known = health.get(host);
      const isProven = known?.lastSuccessAt != null && known.failures === 0;
      if (under === undefined) this.#hosts.set(host, new HostQueue(host, isProven ? settings.slotsPerHost : 1));
    }
  }

  /** The one write of a turn. When the database cannot be written, what came back is kept and tried again. */
  async #takeTurn(): Promise<void> {
    const isStopping = this.#signal.aborted;
    const queues = [...this.#hosts.values()];
    const attempts = this.#finished;
    const hungry = isStopping ? [] : queues.filter((queue) => queue.wantsMore);
    const left = isStopping ? queues.flatMap((queue) => queue.waiting.splice(0)) : [];
    if (attempts.length === 0 && hungry.length === 0 && left.length === 0) return;
    const queued = new Map(queues.map(({ host, waiting }) => [host, waiting]));
    const hungryFor = (limit: number): HostsWithCapacity => ({
      limit,
      hosts: hungry.filter((queue) => atOnce(queue) === limit).map(({ host }) => host),
    });
    const { db, clock, settings, logger } = this.#deps;
    const now = clock.now();
    const isNoted = (host: string): boolean => now - this.#hosts.get(host)!.notedAt < noteAgainMs;
    this.#finished = [];
    try {
      const { givenUp, claimed } = await db.write(async (tx) => {
        const givenUp = await settle(tx, attempts, queued, settings.maxAttempts, isNoted);
        await release(tx, left);
        return { givenUp, claimed: await claim(tx, hungryFor(claimToProbe), hungryFor(claimAtOnce)) };
      });
      for (const { host, since } of givenUp)
        logger.warn('peer.given_up', { host, silentSince: new Date(since).toISOString() });
      const byHost = Map.groupBy(claimed, ({ host }) => host);
      for (const queue of hungry) {
        const rows = byHost.get(queue.host) ?? [];
        queue.mayHaveMore = rows.length === atOnce(queue);
        queue.waiting.push(...rows);
      }
    } catch (error) {
      logger.warn('delivery.not_recorded', { attempts: attempts.length, error });
      if (!isStopping) {
        this.#finished.unshift(...attempts);
        await wait(retryWriteMs);
        return;
      }
    }
    for (const done of attempts) this.#freePlace(done, now);
  }

  #freePlace({ delivery: { host, id }, outcome, wasReached }: Attempt, now: number): void {
    const queue = this.#hosts.get(host)!;
    queue.held -= 1;
    this.#held -= 1;
    if (outcome === null) return;
    if (outcome.kind === 'delivered') {
      this.#report.delivered += 1;
      if (now - queue.notedAt >= noteAgainMs) queue.notedAt = now;
    } else {
      if (!wasReached) queue.notedAt = 0;
      if (outcome.kind === 'failed') this.#report.failed += 1;
      this.#deps.logger.info('delivery.not_delivered', { delivery: id, host, error: outcome.error });
    }
    if (wasReached) queue.limit = this.#deps.settings.slotsPerHost;
    // Its rows have been given back to wait.
    else queue.waiting.length = 0;
  }

  /** Round and round the hosts, one each, so that no host with many rows crowds out the others. */
  #fillPlaces(): void {
    if (this.#signal.aborted) return;
    const { slots } = this.#deps.settings;
    for (let sentAny = true; sentAny && this.#held < slots; ) {
      sentAny = false;
      for (const queue of this.#hosts.values()) {
        if (this.#held >= slots) break;
        const delivery = queue.isDown || queue.held >= queue.limit ? undefined : queue.waiting.shift();
        if (delivery === undefined) continue;
        sentAny = true;
        if (this.#deps.clock.now() < delivery.lockedUntil - leaseMarginMs) this.#send(queue, delivery);
        else queue.mayHaveMore = true;
      }
    }
  }

  #send(queue: HostQueue, delivery: ClaimedDelivery): void {
    queue.held += 1;
    this.#held += 1;
    void attempt(this.#deps, delivery, {
      message: this.#parcelOf(delivery.outboxId),
      isPublic: this.#isPublic,
      signal: this.#signal,
    }).then((done) => {
      // At once, before it is written down: nothing more goes to a host that does not answer.
      if (!done.wasReached) queue.isDown = true;
      this.#finished.push(done);
      this.#wake();
    });
  }

  /** A push goes to thousands of inboxes in the same bytes. */
  #parcelOf(outboxId: string): Promise<OutboxMessage | null> {
    let parcel = this.#parcels.get(outboxId);
    if (parcel === undefined) {
      parcel = loadMessage(this.#deps, outboxId);
      this.#parcels.set(outboxId, parcel);
      if (this.#parcels.size > cachedMessages) this.#parcels.delete(this.#parcels.keys().next().value!);
    }
    return parcel;
  }

  #forgetIdleHosts(): void {
    for (const [host, queue] of this.#hosts) {
      const isIdle = queue.held === 0 && queue.waiting.length === 0;
      if (isIdle && (this.#signal.aborted || !queue.wantsMore)) this.#hosts.delete(host);
    }
  }
}

const atOnce = (queue: HostQueue): number => (queue.limit === 1 ? claimToProbe : claimAtOnce);
