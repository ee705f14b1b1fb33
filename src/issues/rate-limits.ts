import { createLru, currentWindow, rateLimited } from '../kernel/index.ts';
import type { Clock, FixedWindow } from '../kernel/index.ts';
import type { IssueModuleSettings, RateLimit } from './settings.ts';

const windows = [
  { ms: 60_000, name: 'minute', of: (limit: RateLimit) => limit.perMinute },
  { ms: 3_600_000, name: 'hour', of: (limit: RateLimit) => limit.perHour },
] as const;

/** Limit of users and repositories counted at a time; the least recent ones start over. */
const maxCounted = 20_000;

/**
 * Rate limits of contributions. Counted in memory: a restart resets them, and a flood of requests costs no extra
 * writes.
 */
export class RateLimiter {
  readonly #clock: Clock;
  readonly #settings: IssueModuleSettings;
  readonly #counts = createLru<string, readonly FixedWindow[]>({ name: 'issue rates', maxWeight: maxCounted });

  constructor(clock: Clock, settings: IssueModuleSettings) {
    this.#clock = clock;
    this.#settings = settings;
  }

  /**
   * Counts one contribution. Throws `too_many_contributions`, with the time to try again.
   * @param personId null for authors without an account: they are not limited
   * @param repositoryId null for its members, who count only against their own limit
   */
  charge(personId: string | null, repositoryId: string | null): void {
    if (personId === null) return;
    const keys: [string, RateLimit][] = [[`person ${personId}`, this.#settings.perPerson]];
    if (repositoryId !== null) keys.push([`repository ${repositoryId}`, this.#settings.perRepository]);
    const [longest] = keys.flatMap(([key, limit]) => this.#waits(key, limit)).sort((a, b) => b.waitMs - a.waitMs);
    if (longest !== undefined) {
      const { waitMs, most, window } = longest;
      const seconds = Math.ceil(waitMs / 1000);
      throw rateLimited(
        'too_many_contributions',
        `At most ${most} contributions are accepted per ${window}. Try again in ${seconds} seconds.`,
        seconds,
      );
    }
    for (const [key] of keys) for (const window of this.#windowsOf(key)) window.count += 1;
  }

  /** The limits reached. */
  #waits(key: string, limit: RateLimit): { waitMs: number; most: number; window: string }[] {
    const now = this.#clock.now();
    return this.#windowsOf(key).flatMap(({ startedAt, count }, index) => {
      const { ms, name, of } = windows[index]!;
      const most = of(limit);
      return most === 0 || count < most ? [] : [{ waitMs: startedAt + ms - now, most, window: name }];
    });
  }

  #windowsOf(key: string): readonly FixedWindow[] {
    const now = this.#clock.now();
    const before = this.#counts.get(key);
    const counts = windows.map(({ ms }, index) => currentWindow(before?.[index], ms, now));
    this.#counts.set(key, counts);
    return counts;
  }
}
