import { AsyncLocalStorage } from 'node:async_hooks';
import { setTimeout as sleep } from 'node:timers/promises';
import { conflict } from '../kernel/index.ts';

const waitMs = 10_000;
const pollMs = 20;

/** Lets changes of a repository run concurrently, and a move of it exclusively. */
export interface ChangeGate {
  /** Runs a change; waits while a move waits or runs, unless it is part of a running change. */
  change<Result>(id: string, work: () => Promise<Result>): Promise<Result>;
  /** Runs work while no change runs. Throws `repository_busy` if a change takes longer than ten seconds. */
  alone<Result>(id: string, work: () => Promise<Result>): Promise<Result>;
}

export function createChangeGate(): ChangeGate {
  const running = new Map<string, number>();
  const moves = new Map<string, Promise<void>>();
  const within = new AsyncLocalStorage<string>();

  async function change<Result>(id: string, work: () => Promise<Result>): Promise<Result> {
    if (within.getStore() === id && running.has(id)) return work();
    while (moves.has(id)) await moves.get(id);
    running.set(id, (running.get(id) ?? 0) + 1);
    try {
      return await within.run(id, work);
    } finally {
      const left = running.get(id)! - 1;
      if (left === 0) running.delete(id);
      else running.set(id, left);
    }
  }

  async function alone<Result>(id: string, work: () => Promise<Result>): Promise<Result> {
    while (moves.has(id)) await moves.get(id);
    const { promise, resolve } = Promise.withResolvers<void>();
    moves.set(id, promise);
    try {
      const until = performance.now() + waitMs;
      while (running.has(id)) {
        if (performance.now() > until)
          throw conflict('repository_busy', 'A push to this repository is taking too long. Try again later.');
        await sleep(pollMs);
      }
      return await work();
    } finally {
      moves.delete(id);
      resolve();
    }
  }

  return { change, alone };
}
