import { isIPv6 } from 'node:net';
import { chargeGit } from '../../git/index.ts';
import type { Clock } from '../../kernel/index.ts';
import { createCounter } from '../metrics/registry.ts';
import type { Family } from '../metrics/registry.ts';
import { Refusal } from '../refusal.ts';
import type { Middleware } from '../context.ts';

/**
 * What somebody who is not signed in may have read out of git: milliseconds of git's
 * processor time, not requests, because a page of history can cost a hundred times a small
 * file; and not the clock's, so that nobody pays for what others do to the server. A
 * crawler that walks every commit is slowed down; a reader never notices.
 */
export interface AnonymousBudget {
  /** For whatever reads git objects, once it is known who looks. */
  spend: Middleware;
  families(): Family[];
}

/** A full purse, and what comes back every second, in milliseconds of git's processor time. */
const purseMs = 30_000;
const earnedPerSecondMs = 500;
const maxPurses = 20_000;

interface Purse {
  leftMs: number;
  at: number;
}

export function createAnonymousBudget(clock: Clock): AnonymousBudget {
  const purses = new Map<string, Purse>();
  const seconds = createCounter();

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
        const wait = Math.ceil(-purse.leftMs / earnedPerSecondMs) + 1;
        throw new Refusal(429, 'This address has asked for very much. Please wait a moment, or sign in.', { 'Retry-After': String(wait) });
      }
      const charge = (ms: number): void => {
        purse.leftMs -= ms;
        seconds.add({ result: 'served' }, ms / 1000);
      };
      return chargeGit(charge, next);
    },
    families: () => [
      { name: 'anonymous_git_seconds_total', type: 'counter', help: 'Processor time of git for people who are not signed in.', samples: seconds.samples() },
    ],
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
