import { createKeyedMutex, internal, waitAtMost } from '../../kernel/index.ts';
import type { Clock } from '../../kernel/index.ts';
import { entrySchema } from '../schema/entry-schema.ts';
import { announceEntry } from './announce-entry.ts';
import type { AnnouncementDeps } from './announce-entry.ts';
import { lastTryAfterMs, maxAttempts, secondTryAfterMs } from './entry-attempts.ts';
import type { EntryPlace } from './entry-attempts.ts';
import type { EntryListener } from './entry-listener.ts';

/**
 * How long a stop waits for announcements. A listener that hangs must not hold the server; what is not told by then
 * is told after the next start.
 */
const stopTimeoutMs = 10_000;

/** Entries that one run of the job looks at. */
const batch = 200;

/**
 * Tells listeners of entries beside the answer to the client. Entries of one issue are told of in turn, so that the
 * last of them has the last word.
 */
export class EntryAnnouncer {
  readonly #deps: AnnouncementDeps & { clock: Clock };
  readonly #listeners: EntryListener[] = [];
  readonly #inTurn = createKeyedMutex();
  readonly #running = new Set<Promise<void>>();
  #isStopped = false;

  constructor(deps: AnnouncementDeps & { clock: Clock }) {
    this.#deps = deps;
  }

  get hasListeners(): boolean {
    return this.#listeners.length > 0;
  }

  /** Plugs a listener in; before the server starts, so that it hears what was left over. */
  add(listener: EntryListener): void {
    if (this.#listeners.some(({ name }) => name === listener.name))
      throw internal(`two listeners of entries are called ${listener.name}`);
    this.#listeners.push(listener);
  }

  /** Entries that a write of this process has just appended. */
  announceAll(places: readonly EntryPlace[]): void {
    for (const place of places) void this.#announce(place, true);
  }

  /**
   * For a job, and after a start: tells of what an earlier run left, and of what failed.
   * @param which `due` leaves out what is under way elsewhere and what waits for its last try
   */
  async finish(which: 'all' | 'due'): Promise<void> {
    // A process without listeners must not mark entries as announced.
    if (!this.hasListeners) return;
    for (const place of await this.#unannounced(which)) {
      if (this.#isStopped) return;
      await this.#announce(place, false);
    }
  }

  /** By hand: lets a parked entry be announced once more. */
  async unpark({ issueId, position }: EntryPlace): Promise<void> {
    await this.#deps.db.write(({ manager }) =>
      manager
        .query(
          `UPDATE entry_listener_attempts SET attempts = ? WHERE issue_id = ? AND position = ? AND attempts >= ?`,
          [maxAttempts - 1, issueId, position, maxAttempts],
        )
        .then(() => manager.update(entrySchema, { issueId, position }, { parkedAt: null })),
    );
    await this.#announce({ issueId, position }, false);
  }

  async stop(): Promise<void> {
    this.#isStopped = true;
    const ended = await waitAtMost(Promise.all(this.#running), stopTimeoutMs);
    if (ended === undefined) this.#deps.logger.warn('issue.announcements_left', { entries: this.#running.size });
  }

  #announce(place: EntryPlace, isBegun: boolean): Promise<void> {
    const work = this.#inTurn(place.issueId, () => announceEntry(this.#deps, this.#listeners, place, isBegun))
      .catch((error: unknown) => this.#deps.logger.error('issue.announce_failed', { ...place, error }))
      .finally(() => this.#running.delete(work));
    this.#running.add(work);
    return work;
  }

  #unannounced(which: 'all' | 'due'): Promise<EntryPlace[]> {
    const query = this.#deps.db.read
      .createQueryBuilder(entrySchema, 'e')
      .select('e.issue_id', 'issueId')
      .addSelect('e.position', 'position')
      .where('e.announced_at IS NULL AND e.parked_at IS NULL AND e.held_at IS NULL')
      .orderBy('e.created_at')
      .addOrderBy('e.issue_id')
      .addOrderBy('e.position')
      .limit(which === 'due' ? batch : undefined);
    if (which === 'due') {
      const now = this.#deps.clock.now();
      query.andWhere(
        '((e.attempts < :last AND (e.tried_at IS NULL OR e.tried_at <= :second)) OR e.tried_at <= :before)',
        { last: maxAttempts - 1, second: now - secondTryAfterMs, before: now - lastTryAfterMs },
      );
    }
    return query.getRawMany<EntryPlace>();
  }
}
