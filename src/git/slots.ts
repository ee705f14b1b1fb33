import { busy, createSemaphore } from '../kernel/index.ts';
import type { Semaphore } from '../kernel/index.ts';
import type { SlotLoad } from './git-services.ts';
import type { GitLimits } from './limits.ts';

/** Slots for git processes, by kind of work. Throws `git_busy` if too many requests wait, or one waits too long. */
export function createSlots(limits: GitLimits) {
  const queue = {
    queue: limits.queue,
    waitMs: limits.queueWaitMs,
    refusal: busy(
      'git_busy',
      'The server is busy with other git requests. Try again in a moment.',
      limits.retryAfterSeconds,
    ),
  };
  const slotsOf = (limit: number, limitPerKey?: Record<string, number>): Semaphore =>
    createSemaphore({ ...queue, limit, ...(limitPerKey === undefined ? {} : { limitPerKey }) });
  return {
    reads: slotsOf(limits.readSlots, { repository: limits.readsPerRepository, client: limits.readsPerClient }),
    writes: slotsOf(limits.writeSlots, { repository: limits.writesPerRepository }),
    short: slotsOf(limits.shortSlots, { repository: limits.shortPerRepository }),
    // Equals the cores of the reference machine, because a merge is CPU-bound.
    merging: slotsOf(2),
  };
}

export function loadOf(slots: Semaphore): SlotLoad {
  const { heldSeconds, ...counts } = slots.statistics();
  return { running: slots.held(), waiting: slots.waiting(), workedSeconds: heldSeconds, ...counts };
}
