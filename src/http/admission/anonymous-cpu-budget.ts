import { addressGroup, chargeCpuTime, unavailable } from '../../kernel/index.ts';
import type { Clock } from '../../kernel/index.ts';
import { createCounter } from '../metrics-registry.ts';
import type { Family } from '../metrics-registry.ts';
import { Refusal } from '../refusal.ts';
import type { Context, Middleware } from '../context.ts';
import type { CostClass } from './budget.ts';

/**
 * What somebody who is not signed in may have read out of git: milliseconds of the
 * processor time of git and of the threads that render what it read, not requests, because a
 * page of history can cost a hundred times a small file; and not the clock's, so that nobody pays for what others do to the server. A
 * crawler that walks every commit is slowed down; a reader never notices. And all of them
 * together have a part of the places only, with a line in front of it, so that whoever is
 * signed in finds one however many crawlers there are.
 */
export interface AnonymousCpuBudget {
  /**
   * What strangers pass before work of a class, once it is known who looks and before they
   * have a place; null where they are like all others. Refuses `busy` when the line is full
   * or the wait too long, and 429 when the purse of whoever reads git is empty.
   */
  before: Readonly<Record<CostClass, Middleware | null>>;
  families(): Family[];
}

/** A full purse, and what comes back every second, in milliseconds of processor time. */
const budgetMs = 30_000;
const earnedPerSecondMs = 500;
const maxBudgets = 20_000;

interface Slots {
  atWork: number;
  /** How many may wait, and how long in milliseconds. */
  line: number;
  waitMs: number;
}

/**
 * A page takes many turns of the event loop, and in each turn all that are at work get
 * theirs: few at once are as quick as many. Of searches, two are asked of their threads and
 * a few begin or are shown; what more had found would only wait for that.
 */
const defaultSlots: Readonly<Record<'git' | 'rows' | 'search', Slots>> = {
  git: { atWork: 12, line: 128, waitMs: 10_000 },
  rows: { atWork: 16, line: 256, waitMs: 10_000 },
  search: { atWork: 5, line: 512, waitMs: 10_000 },
};

interface Waiting {
  enter: (() => void) | null;
}

interface ClientBudget {
  leftMs: number;
  at: number;
}

export function createAnonymousCpuBudget(clock: Clock, places = defaultSlots): AnonymousCpuBudget {
  const purses = new Map<string, ClientBudget>();
  const seconds = createCounter();
  const refused = createCounter();
  const enter = (places: Slots) =>
    createQueue(places, () => {
      refused.add({ result: 'busy' }, 1);
      return unavailable('busy', 'Too many people ask for this at once. Please try again in a moment, or sign in.', {
        retryAfterSeconds: 5,
      });
    });
  const forGit = enter(places.git);

  function purseOf(address: string): ClientBudget {
    const key = addressGroup(address);
    const now = clock.now();
    const purse = purses.get(key) ?? { leftMs: budgetMs, at: now };
    purse.leftMs = Math.min(budgetMs, purse.leftMs + (Math.max(0, now - purse.at) / 1000) * earnedPerSecondMs);
    purse.at = now;
    // Last used, last forgotten.
    purses.delete(key);
    purses.set(key, purse);
    if (purses.size > maxBudgets) purses.delete(purses.keys().next().value!);
    return purse;
  }

  const spend: Middleware = async (ctx, next) => {
    if (ctx.state.identity.viewer.kind !== 'anonymous') return next();
    const purse = purseOf(ctx.state.address);
    if (purse.leftMs <= 0) {
      seconds.add({ result: 'refused' }, 0);
      refused.add({ result: 'spent' }, 1);
      const wait = Math.ceil(-purse.leftMs / earnedPerSecondMs) + 1;
      throw new Refusal(429, 'This address has asked for very much. Please wait a moment, or sign in.', {
        'Retry-After': String(wait),
      });
    }
    const charge = (ms: number): void => {
      purse.leftMs -= ms;
      seconds.add({ result: 'served' }, ms / 1000);
    };
    await forGit(unlessLeft(ctx, () => chargeCpuTime(charge, next)));
  };

  const wait =
    (within: ReturnType<typeof enter>): Middleware =>
    async (ctx, next) => {
      if (ctx.state.identity.viewer.kind !== 'anonymous') return next();
      await within(unlessLeft(ctx, next));
    };

  return {
    before: {
      free: null,
      password: null,
      signature: null,
      upload: null,
      // Whoever opens a page does not stand in line behind a crowd that searches.
      rows: wait(enter(places.rows)),
      search: wait(enter(places.search)),
      // Archives are transfers that a page begins.
      objects: spend,
      transfer: spend,
    },
    families: () => [
      {
        name: 'anonymous_git_seconds_total',
        type: 'counter',
        help: 'Processor time of git and of worker threads for people who are not signed in.',
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

/** Who has left while they waited is not missed: nothing was done yet. */
const unlessLeft =
  ({ res }: Context, work: () => Promise<unknown>) =>
  async (): Promise<unknown> =>
    res.destroyed ? undefined : work();

/** So many at work; whoever has ended gives the place on to the first in line. */
function createQueue(
  { atWork: most, line: longest, waitMs }: Slots,
  busy: () => Error,
): <T>(work: () => Promise<T>) => Promise<T> {
  /** What a set has let go of may stay in memory for seconds; so it gets something small to hold. */
  const line = new Set<Waiting>();
  let atWork = 0;

  function takePlace(): Promise<void> {
    if (atWork < most) {
      atWork += 1;
      return Promise.resolve();
    }
    if (line.size >= longest) return Promise.reject(busy());
    return new Promise<void>((resolve, reject) => {
      const waiting: Waiting = {
        enter() {
          clearTimeout(timer);
          resolve();
        },
      };
      const timer = setTimeout(() => {
        line.delete(waiting);
        reject(busy());
      }, waitMs);
      line.add(waiting);
    });
  }

  return async (work) => {
    await takePlace();
    try {
      return await work();
    } finally {
      const [next] = line;
      if (next === undefined) {
        atWork -= 1;
      } else {
        line.delete(next);
        next.enter?.();
        next.enter = null;
      }
    }
  };
}
