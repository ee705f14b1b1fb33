import { isIPv6 } from 'node:net';
import { chargeGit } from '../../git/index.ts';
import { unavailable } from '../../kernel/index.ts';
import type { Clock } from '../../kernel/index.ts';
import { createCounter } from '../metrics/registry.ts';
import type { Family } from '../metrics/registry.ts';
import { Refusal } from '../answers/refusal.ts';
import type { Middleware } from '../context.ts';

/**
 * What somebody who is not signed in may have read out of git: milliseconds of git's
 * processor time, not requests, because a page of history can cost a hundred times a small
 * file; and not the clock's, so that nobody pays for what others do to the server. A
 * crawler that walks every commit is slowed down; a reader never notices. And all of them
 * together have a part of the places only, with a line in front of it, so that whoever is
 * signed in finds one however many crawlers there are.
 */
export interface AnonymousBudget {
  /**
   * For whatever reads git objects, once it is known who looks and before they have a place.
   * Refuses 429 when the purse is empty, and `busy` when the line is full or the wait too long.
   */
  spend: Middleware;
  /** The same places and line, without a purse, for everything else that takes work. */
  wait: Middleware;
  families(): Family[];
}

/** A full purse, and what comes back every second, in milliseconds of git's processor time. */
const purseMs = 30_000;
const earnedPerSecondMs = 500;
const maxPurses = 20_000;

interface Places {
  atWork: number;
  /** How many may wait, and how long in milliseconds. */
  line: number;
  waitMs: number;
}

/** A page takes many turns of the event loop, and in each turn all that are at work get theirs: few at once are as quick as many. */
const usualPlaces: Readonly<Record<'git' | 'rows', Places>> = {
  git: { atWork: 12, line: 128, waitMs: 10_000 },
  rows: { atWork: 16, line: 256, waitMs: 10_000 },
};

interface Purse {
  leftMs: number;
  at: number;
}

export function createAnonymousBudget(clock: Clock, places = usualPlaces): AnonymousBudget {
  const purses = new Map<string, Purse>();
  const seconds = createCounter();
  const refused = createCounter();
  const enter = (places: Places) => createLine(places, () => {
    refused.add({ result: 'busy' }, 1);
    return unavailable('busy', 'Too many people ask for this at once. Please try again in a moment, or sign in.', { retryAfterSeconds: 5 });
  });
  const forGit = enter(places.git);
  const forRows = enter(places.rows);

  function purseOf(address: string): Purse {
    const key = neighbourhood(address);
    const now = clock.now();
    const purse = purses.get(key) ?? { leftMs: purseMs, at: now };
    purse.leftMs = Math.min(purseMs, purse.leftMs + (Math.max(0, now - purse.at) / 1000) * earnedPerSecondMs);
    purse.at = now;
    // Last used, last forgotten.
    purses.delete(key);
    purses.set(key, purse);
    if (purses.size > maxPurses) purses.delete(purses.keys().next().value!);
    return purse;
  }

  return {
    async spend(ctx, next) {
      if (ctx.state.identity.viewer.kind !== 'anonymous') return next();
      const purse = purseOf(ctx.state.address);
      if (purse.leftMs <= 0) {
        seconds.add({ result: 'refused' }, 0);
        refused.add({ result: 'spent' }, 1);
        const wait = Math.ceil(-purse.leftMs / earnedPerSecondMs) + 1;
        throw new Refusal(429, 'This address has asked for very much. Please wait a moment, or sign in.', { 'Retry-After': String(wait) });
      }
      const charge = (ms: number): void => {
        purse.leftMs -= ms;
        seconds.add({ result: 'served' }, ms / 1000);
      };
      await forGit(() => chargeGit(charge, next));
    },
    async wait(ctx, next) {
      if (ctx.state.identity.viewer.kind !== 'anonymous') return next();
      await forRows(next);
    },
    families: () => [
      { name: 'anonymous_git_seconds_total', type: 'counter', help: 'Processor time of git for people who are not signed in.', samples: seconds.samples() },
      { name: 'anonymous_refused_total', type: 'counter', help: 'Requests of people who are not signed in that were refused, because their network had asked for too much or all places were taken.', samples: refused.samples() },
    ],
  };
}

/** So many at work; whoever has ended gives the place on to the first in line. */
function createLine({ atWork: most, line: longest, waitMs }: Places, busy: () => Error): <T>(work: () => Promise<T>) => Promise<T> {
  const line = new Set<() => void>();
  let atWork = 0;

  function takePlace(): Promise<void> {
    if (atWork < most) {
      atWork += 1;
      return Promise.resolve();
    }
    if (line.size >= longest) return Promise.reject(busy());
    return new Promise<void>((resolve, reject) => {
      const enter = (): void => {
        clearTimeout(timer);
        resolve();
      };
      const timer = setTimeout(() => {
        line.delete(enter);
        reject(busy());
      }, waitMs);
      line.add(enter);
    });
  }

  return async (work) => {
    await takePlace();
    try {
      return await work();
    } finally {
      const [next] = line;
      if (next === undefined) atWork -= 1;
      else line.delete(next);
      next?.();
    }
  };
}

/** One network: a /64 is one customer's, and has more addresses than any list. */
function neighbourhood(address: string): string {
  if (!isIPv6(address)) return address;
  const [head = '', tail] = address.split('::');
  const groups = head.split(':').filter(Boolean);
  const missing = 8 - groups.length - (tail?.split(':').filter(Boolean).length ?? 0);
  return [...groups, ...Array<string>(tail === undefined ? 0 : missing).fill('0'), ...(tail?.split(':').filter(Boolean) ?? [])].slice(0, 4).join(':');
}
