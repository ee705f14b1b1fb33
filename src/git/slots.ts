import { busy, createSemaphore } from '../kernel/index.ts';
import type { Semaphore } from '../kernel/index.ts';
import type { SlotLoad } from './git-services.ts';
import type { GitLimits } from './limits.ts';

/** Places for processes of git, by what they do. Refuses `git_busy` when too many wait, or for too long. */
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
    // As many as the reference load has cores: a merge computes all the time.
    merging: slotsOf(2),
  };
}

export function loadOf(slots: Semaphore): SlotLoad {
  const { heldSeconds, ...counts } = slots.statistics();
  return { running: slots.held(), waiting: slots.waiting(), workedSeconds: heldSeconds, ...counts };
}
