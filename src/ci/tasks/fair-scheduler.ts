import { createLru } from '../../kernel/index.ts';
import type { WaitingGroup } from './group-waiting-jobs.ts';

/**
 * Start-time fair queueing among owners, and among the repositories of each: the group with the fewest recent jobs
 * comes first, then the one that has waited longest. Each job advances the virtual time of its owner and repository;
 * after a pause a group starts at the current virtual time, without credit.
 */
export class FairScheduler {
  readonly #owners = new VirtualClock();
  readonly #repositories = new VirtualClock();

  /** The groups in the order in which they should be served. */
  sort(lines: readonly WaitingGroup[]): WaitingGroup[] {
    const owners = new Map(lines.map((line) => [line, this.#owners.of(ownerOf(line))]));
    const repositories = new Map(lines.map((line) => [line, this.#repositories.of(line.repositoryId)]));
    return [...lines].sort(
      (a, b) =>
        owners.get(a)! - owners.get(b)! ||
        repositories.get(a)! - repositories.get(b)! ||
        a.waitingSince - b.waitingSince ||
        a.firstJobId - b.firstJobId,
    );
  }

  /** Records that a job of this group was assigned. */
  served(line: WaitingGroup): void {
    this.#owners.take(ownerOf(line));
    this.#repositories.take(line.repositoryId);
  }
}

const ownerOf = (line: WaitingGroup): string => line.ownerUserId ?? line.ownerOrganisationId ?? '';

const maxRemembered = 10_000;

class VirtualClock {
  readonly #virtualTimes = createLru<string, number>({ name: 'job turns', maxWeight: maxRemembered });
  #present = 0;

  of(who: string): number {
    return Math.max(this.#virtualTimes.peek(who) ?? 0, this.#present);
  }

  take(who: string): void {
    const virtualTime = this.of(who);
    this.#present = virtualTime;
    this.#virtualTimes.set(who, virtualTime + 1);
  }
}
