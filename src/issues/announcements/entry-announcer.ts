import { isAlone } from '../../nodes/index.ts';
import { dueAgain, retryCutOff, unpark } from '../../announcements/index.ts';
import { createKeyedMutex, internal, waitAtMost } from '../../kernel/index.ts';
import { entrySchema } from '../schema/entry-schema.ts';
import { announceEntry, placeOfEntry } from './announce-entry.ts';
import type { EntryAnnouncementDeps, EntryListener, EntryPosition } from './announce-entry.ts';

/**
 * Time that a shutdown waits for announcements. A hanging listener must not block the exit; the next start announces
 * the rest.
 */
const stopTimeoutMs = 10_000;

/** Delay of the second attempt, in milliseconds: the first may still run in another process. */
const secondTryAfterMs = 30_000;

/** Entries per run of the scheduled task. */
const batch = 200;

type Deps = EntryAnnouncementDeps;

/**
 * Announces entries in parallel to the response to the client. Serialises announcements per issue, so that its last
 * entry is announced last.
 */
export class EntryAnnouncer {
  readonly #deps: Deps;
  readonly #listeners: EntryListener[] = [];
  readonly #inTurn = createKeyedMutex();
  #isStopped = false;

  constructor(deps: Deps) {
    this.#deps = deps;
  }

  get hasListeners(): boolean {
    return this.#listeners.length > 0;
  }

  /** Registers a listener; must precede the start, so that it receives entries left by an earlier run. */
  add(listener: EntryListener): void {
    if (this.#listeners.some(({ name }) => name === listener.name))
      throw internal(`two listeners of entries are called ${listener.name}`);
    this.#listeners.push(listener);
  }

  /** Entries just appended by a transaction of this process. */
  announceAll(places: readonly EntryPosition[]): void {
    for (const place of places) void this.#announce(place, true);
  }

  /**
   * For a scheduled task, and after a start: announces entries left by an earlier run or a failure.
   * @param which `due` omits entries that another node may be announcing; both omit entries that wait for their last
   *   attempt
   */
  async finish(which: 'all' | 'due'): Promise<void> {
    // A process without listeners must not mark entries as announced.
    if (!this.hasListeners) return;
    if (which === 'due') await this.#retryCutOff();
    for (const place of await this.#unannounced(which)) {
      if (this.#isStopped) return;
      await this.#announce(place, false);
    }
  }

  /** Manually announces a parked entry once more. */
  async unpark({ issueId, position }: EntryPosition): Promise<void> {
    await this.#deps.db.write((tx) => unpark(tx, placeOfEntry({ issueId, position })));
    await this.#announce({ issueId, position }, false);
  }

  /** Retries entries that an earlier server parked because it crashed repeatedly. */
  #retryCutOff(): Promise<void> {
    const { db, clock, startedAt } = this.#deps;
    const join = [
      ['issue_id', 'issue_id'],
      ['position', 'position'],
    ] as const;
    const tables = { events: 'issue_entries', attempts: 'entry_listener_attempts', join };
    return retryCutOff(db, tables, { startedAt, now: clock.now() });
  }

  async stop(): Promise<void> {
    this.#isStopped = true;
    await waitAtMost(this.#inTurn.settled(), stopTimeoutMs);
    const issues = this.#inTurn.held();
    if (issues > 0) this.#deps.logger.warn('issue.announcements_left', { issues });
  }

  #announce(place: EntryPosition, isAttemptCounted: boolean): Promise<void> {
    return this.#inTurn(place.issueId, () => announceEntry(this.#deps, this.#listeners, place, isAttemptCounted)).catch(
      (error: unknown) => this.#deps.logger.error('issue.announce_failed', { ...place, error }),
    );
  }

  #unannounced(which: 'all' | 'due'): Promise<EntryPosition[]> {
    const query = this.#deps.db.read
      .createQueryBuilder(entrySchema, 'e')
      .select('e.issue_id', 'issueId')
      .addSelect('e.position', 'position')
      .where('e.announced_at IS NULL AND e.parked_at IS NULL AND e.held_at IS NULL')
      .orderBy('e.created_at')
      .addOrderBy('e.issue_id')
      .addOrderBy('e.position')
      .limit(which === 'due' ? batch : undefined);
    // The last attempt also waits at a start, so that a server killed repeatedly does not park entries.
    const now = this.#deps.clock.now();
    const second = which === 'due' ? now - secondTryAfterMs : now;
    const again = dueAgain('e', now);
    query.andWhere(again.sql, again.parameters);
    // The other node announces entries that it has just written.
    if (which === 'all') query.andWhere(isAlone(this.#deps.db));
    query.andWhere('(e.tried_at IS NULL OR e.tried_at <= :second)', { second });
    return query.getRawMany<EntryPosition>();
  }
}
