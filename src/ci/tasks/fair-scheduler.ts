import { createLru } from '../../kernel/index.ts';
import type { WaitingGroup } from '../task-queue/group-waiting-jobs.ts';

/**
 * Start-time fair queueing among owners, and among the repositories of each: the group with the fewest recent jobs
 * comes first; ties go to the one that has waited longest. Each job advances the virtual time of its owner and
 * repository. After a pause a group starts at the current virtual time, without credit.
 */
export class FairScheduler {
  readonly #owners = new VirtualClock();
  readonly #repositories = new VirtualClock();

  /** Returns the groups in the order in which they should be served. */
  sort(groups: readonly WaitingGroup[]): WaitingGroup[] {
    const owners = new Map(groups.map((group) => [group, this.#owners.of(ownerOf(group))]));
    const repositories = new Map(groups.map((group) => [group, this.#repositories.of(group.repositoryId)]));
    return [...groups].sort(
      (a, b) =>
        owners.get(a)! - owners.get(b)! ||
        repositories.get(a)! - repositories.get(b)! ||
        a.waitingSince - b.waitingSince ||
        a.firstJobId - b.firstJobId,
    );
  }

  /** Records that a job of this group was assigned. */
  served(group: WaitingGroup): void {
    this.#owners.advance(ownerOf(group));
    this.#repositories.advance(group.repositoryId);
  }
}

const ownerOf = (group: WaitingGroup): string => group.ownerUserId ?? group.ownerOrganisationId ?? '';

const maxTracked = 10_000;

class VirtualClock {
  readonly #virtualTimes = createLru<string, number>({ name: 'virtual times of job owners', maxWeight: maxTracked });
  #present = 0;

  of(group: string): number {
    return Math.max(this.#virtualTimes.peek(group) ?? 0, this.#present);
  }

  advance(group: string): void {
    const virtualTime = this.of(group);
    this.#present = virtualTime;
    this.#virtualTimes.set(group, virtualTime + 1);
  }
}
