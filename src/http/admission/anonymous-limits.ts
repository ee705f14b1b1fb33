import { chargeCpuTime, createSemaphore, createTokenBuckets, networkPrefix, unavailable } from '../../kernel/index.ts';
import type { Clock, Semaphore } from '../../kernel/index.ts';
import type { Context, Middleware } from '../context.ts';
import { createCounter } from '../prometheus-text.ts';
import type { MetricFamily } from '../prometheus-text.ts';
import { HttpError } from '../http-error.ts';
import type { CostClass } from './request-classes.ts';

/**
 * Limits of clients that are not signed in. Each address has a budget of CPU time for git, for the threads that search
 * and render, and for the length of responses. The budget counts CPU time, not requests, because a page of history can
 * cost a hundred times a small file; and not wall-clock time, so that no client pays for load caused by others. A
 * crawler that walks every commit is slowed down; a reader never notices. All anonymous clients share a limited number
 * of slots with a queue in front, so that signed-in clients find a slot however many crawlers there are. One address
 * has a share of the slots and of the queue, so that only its own requests beyond that are refused.
 */
interface AnonymousLimits {
  /**
   * Middleware that limits work of a class, after the client is identified and before the request takes a slot of the
   * class; null for classes without anonymous limits. Throws `busy` if the queue is full or the wait too long, and 429
   * if the budget of the address is spent.
   */
  limits: Readonly<Record<CostClass, Middleware | null>>;
  families(): MetricFamily[];
}

/** Size of a full budget and its refill per second, in milliseconds of CPU time. */
const cpuBudget = { capacity: 30_000, perSecond: 500 };
const maxBudgets = 20_000;

interface Places {
  limit: number;
  /** How many of them one address may have. */
  ofAddress: number;
  /** Queue length for all addresses and for one, and waiting time in milliseconds. */
  queue: number;
  queueOfAddress: number;
  waitMs: number;
}

/**
 * As many requests may wait as there are connections. One address takes at most a quarter of the queue, so that others
 * always find a place in it.
 */
const queues = { queue: 1_000, queueOfAddress: 250, waitMs: 10_000 };

/**
 * A page takes many turns of the event loop, and in each turn all running pages get theirs: a few at once are as fast
 * as many. Two searches run in their threads, and a few more start or render; further ones would only wait for them.
 */
const defaultPlaces: Readonly<Record<'git' | 'rows' | 'search', Places>> = {
  git: { limit: 12, ofAddress: 8, ...queues },
  rows: { limit: 16, ofAddress: 12, ...queues },
  search: { limit: 5, ofAddress: 4, ...queues },
};

const isAnonymous = (ctx: Context): boolean => ctx.state.identity.viewer.kind === 'anonymous';

export function createAnonymousLimits(clock: Clock, places = defaultPlaces): AnonymousLimits {
  const budgets = createTokenBuckets(clock, { name: 'anonymous CPU budgets', ...cpuBudget, maxKeys: maxBudgets });
  const seconds = createCounter();
  const refused = createCounter();
  const semaphoreFor = ({ limit, ofAddress, queue, queueOfAddress, waitMs }: Places) =>
    createSemaphore({
      limit,
      limitPerKey: { address: ofAddress },
      queue,
      queuePerKey: { address: queueOfAddress },
      waitMs,
      refusal() {
        refused.add({ result: 'busy' }, 1);
        return unavailable(
          'busy',
          'Too many users are requesting this at the same time. Try again in a moment, or sign in.',
          {
            retryAfterSeconds: 5,
          },
        );
      },
    });
  const [gitSlots, rowPlaces, searchPlaces] = [places.git, places.rows, places.search].map(semaphoreFor) as [
    Semaphore,
    Semaphore,
    Semaphore,
  ];

  /** The budget of the address pays for the cost of the work. */
  const spendBudget =
    (semaphore: Semaphore): Middleware =>
    async (ctx, next) => {
      if (!isAnonymous(ctx)) return next();
      const network = networkPrefix(ctx.state.address);
      const leftMs = budgets.left(network);
      if (leftMs <= 0) {
        seconds.add({ result: 'refused' }, 0);
        refused.add({ result: 'spent' }, 1);
        const waitSeconds = Math.ceil(-leftMs / cpuBudget.perSecond) + 1;
        throw new HttpError(429, 'Too many requests from this address. Wait a moment, or sign in.', {
          'Retry-After': String(waitSeconds),
        });
      }
      const charge = (ms: number): void => {
        budgets.charge(network, ms);
        seconds.add({ result: 'served' }, ms / 1000);
      };
      await withSlot(semaphore, ctx, () => chargeCpuTime(charge, next));
    };

  return {
    limits: {
      free: null,
      password: null,
      signature: null,
      upload: null,
      change: null,
      // Separate from the slots of searches, so that a page does not wait behind many of them.
      rows: spendBudget(rowPlaces),
      search: spendBudget(searchPlaces),
      // Archives are transfers started from a page.
      objects: spendBudget(gitSlots),
      transfer: spendBudget(gitSlots),
    },
    families: () => [
      {
        name: 'anonymous_git_seconds_total',
        type: 'counter',
        help: 'Processor time of git, of threads and of long answers for people who are not signed in.',
        samples: seconds.samples(),
      },
      {
        name: 'anonymous_refused_total',
        type: 'counter',
        help: 'Requests of people who are not signed in that were refused, because their network had asked for too much or all places were taken.',
        samples: refused.samples(),
      },
    ],
  };
}

/** Runs once a slot is free, unless the client has disconnected meanwhile: nothing was done yet. */
async function withSlot(semaphore: Semaphore, { res, state }: Context, work: () => Promise<unknown>): Promise<void> {
  const release = await semaphore.acquire({ address: networkPrefix(state.address) });
  try {
    if (!res.destroyed) await work();
  } finally {
    release();
  }
}
