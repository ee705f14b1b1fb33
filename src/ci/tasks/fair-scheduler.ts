import { createLru } from '../../kernel/index.ts';
import type { WaitingGroup } from './group-waiting-jobs.ts';

/**
 * Turns among owners, and among the repositories of each: whoever has had fewer jobs
 * lately comes first, then whoever has waited longer. Each job moves its owner's and
 * its repository's time on; who comes back after a pause starts at the present, and
 * has nothing saved up.
 */
export class FairScheduler {
  readonly #owners = new Turns();
  readonly #repositories = new Turns();

  /** The lines in the order in which they should be served. */
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

  /** A job of this line was given away. */
  served(line: WaitingGroup): void {
    this.#owners.take(ownerOf(line));
    this.#repositories.take(line.repositoryId);
  }
}

const ownerOf = (line: WaitingGroup): string => line.ownerUserId ?? line.ownerOrganisationId ?? '';

const maxRemembered = 10_000;

class Turns {
  readonly #taken = createLru<string, number>({ name: 'job turns', maxWeight: maxRemembered });
  #present = 0;

  of(who: string): number {
    return Math.max(this.#taken.peek(who) ?? 0, this.#present);
  }

  take(who: string): void {
    const turn = this.of(who);
    this.#present = turn;
    this.#taken.set(who, turn + 1);
  }
}
