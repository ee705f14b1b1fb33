import { createLru, unavailable } from '../../kernel/index.ts';
import type { Clock } from '../../kernel/index.ts';
import type { IssueModuleSettings, RateLimit } from '../settings.ts';

const windows = [
  { ms: 60_000, of: (limit: RateLimit) => limit.perMinute },
  { ms: 3_600_000, of: (limit: RateLimit) => limit.perHour },
] as const;

/** People and repositories that are counted at a time; the least recent ones start anew. */
const maxCounted = 20_000;

/** Fixed windows of a minute and an hour, each by the time at which it began. */
type Counts = { startedAt: number; count: number }[];

/** Bounds what people write. Counted in memory: a restart forgives, and a flood of writes costs no write more. */
export class RateLimiter {
  readonly #clock: Clock;
  readonly #settings: IssueModuleSettings;
  readonly #counts = createLru<string, Counts>({ name: 'issue rates', maxWeight: maxCounted });

  constructor(clock: Clock, settings: IssueModuleSettings) {
    this.#clock = clock;
    this.#settings = settings;
  }

  /**
   * Counts one contribution. Refuses `too_many_contributions`, with when to try again.
   * @param personId null for those who are no account: they are not limited
   * @param repositoryId null for its members, who count against their own limit alone
   */
  charge(personId: string | null, repositoryId: string | null): void {
    if (personId === null) return;
    const keys: [string, RateLimit][] = [[`person ${personId}`, this.#settings.perPerson]];
    if (repositoryId !== null) keys.push([`repository ${repositoryId}`, this.#settings.perRepository]);
    const waitMs = Math.max(...keys.map(([key, limit]) => this.#waitMs(key, limit)));
    if (waitMs > 0)
      throw unavailable('too_many_contributions', 'That is very much at once. Please wait a moment.', {
        retryAfterSeconds: Math.ceil(waitMs / 1000),
      });
    for (const [key] of keys) for (const window of this.#windowsOf(key)) window.count += 1;
  }

  #waitMs(key: string, limit: RateLimit): number {
    const now = this.#clock.now();
    const waits = this.#windowsOf(key).map(({ startedAt, count }, index) =>
      count < windows[index]!.of(limit) ? 0 : startedAt + windows[index]!.ms - now,
    );
    return Math.max(...waits);
  }

  #windowsOf(key: string): Counts {
    const now = this.#clock.now();
    const counts = this.#counts.get(key) ?? windows.map(() => ({ startedAt: now, count: 0 }));
    for (const [index, window] of counts.entries()) {
      // A clock that was set back begins a new window, too.
      if (now >= window.startedAt + windows[index]!.ms || now < window.startedAt) {
        window.startedAt = now;
        window.count = 0;
      }
    }
    this.#counts.set(key, counts);
    return counts;
  }
}
