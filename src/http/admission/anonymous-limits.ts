import { chargeCpuTime, createSemaphore, createTokenBuckets, networkPrefix, unavailable } from '../../kernel/index.ts';
import type { Clock, Semaphore } from '../../kernel/index.ts';
import type { Context, Middleware } from '../context.ts';
import { createCounter } from '../prometheus-text.ts';
import type { MetricFamily } from '../prometheus-text.ts';
import { HttpError } from '../http-error.ts';
import type { CostClass } from './request-classes.ts';

/**
 * Limits of clients that are not signed in. Each address has a budget of CPU time for git, for the threads that search
 * and render, and for the length of answers. The budget counts CPU time, not requests, because a page of history can
 * cost a hundred times a small file; and not wall-clock time, so that no client pays for load that others cause. A
 * crawler that walks every commit is slowed down; a reader never notices. All anonymous clients together share a
 * limited number of places with a queue in front, so that signed-in clients find a place however many crawlers there
 * are. One address has a part of the places and of the queue, so that what it sends beyond that is refused to it alone.
 */
interface AnonymousLimits {
  /**
   * What a request passes before work of a class, once it is known who sends it and before it
   * takes a place of the class; null where anonymous clients are like all others. Refuses `busy`
   * when the queue is full or the wait too long, and with 429 when the budget of the address is spent.
   */
  limits: Readonly<Record<CostClass, Middleware | null>>;
  families(): MetricFamily[];
}

/** A full budget, and what comes back every second, in milliseconds of processor time. */
const cpuBudget = { capacity: 30_000, perSecond: 500 };
const maxBudgets = 20_000;

interface Places {
  limit: number;
  /** How many of them one address may have. */
  ofAddress: number;
  /** How many may wait, of all addresses and of one, and how long in milliseconds. */
  queue: number;
  queueOfAddress: number;
  waitMs: number;
}

/**
 * As many as there are connections may wait. One address takes a quarter of them: whatever it asks for, others find a
 * place in the queue, and pass it there.
 */
const queues = { queue: 1_000, queueOfAddress: 250, waitMs: 10_000 };

/**
 * A page takes many turns of the event loop, and in each turn all that run get theirs: few at
 * once are as quick as many. Of searches, two run in their threads and a few begin or are
 * rendered; what more had found would only wait for that.
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
        return unavailable('busy', 'Too many people are requesting this at once. Try again in a moment, or sign in.', {
          retryAfterSeconds: 5,
        });
      },
    });
  const [gitSlots, rowPlaces, searchPlaces] = [places.git, places.rows, places.search].map(semaphoreFor) as [
    Semaphore,
    Semaphore,
    Semaphore,
  ];

  /** Whatever the work costs is paid from the budget of the address. */
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
      // Places separate from those of searches, so that a page does not wait behind many of them.
      rows: spendBudget(rowPlaces),
      search: spendBudget(searchPlaces),
      // Archives are transfers that a page begins.
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

/** Works once a place is free, unless the client has left while it waited: nothing was done yet. */
async function withSlot(semaphore: Semaphore, { res, state }: Context, work: () => Promise<unknown>): Promise<void> {
  const release = await semaphore.acquire({ address: networkPrefix(state.address) });
  try {
    if (!res.destroyed) await work();
  } finally {
    release();
  }
}
