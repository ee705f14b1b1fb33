import { isAlone } from '../../nodes/index.ts';
import { dueAgain, retryCutOff, unpark } from '../../announcements/index.ts';
import { createKeyedMutex, internal, waitAtMost } from '../../kernel/index.ts';
import { entrySchema } from '../schema/entry-schema.ts';
import { announceEntry, placeOfEntry } from './announce-entry.ts';
import type { EntryAnnouncementDeps, EntryListener, EntryPosition } from './announce-entry.ts';

/**
 * How long a stop waits for announcements. A listener that hangs must not hold the server; what is not announced by
 * then is announced after the next start.
 */
const stopTimeoutMs = 10_000;

/** Delay of the second attempt, in milliseconds: the first may still run in another process. */
const secondTryAfterMs = 30_000;

/** Entries that one run of the job looks at. */
const batch = 200;

type Deps = EntryAnnouncementDeps;

/**
 * Announces entries beside the response to the client. Announcements of one issue are serialised, so that its last
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

  /** Registers a listener; before the server starts, so that it receives what an earlier run left. */
  add(listener: EntryListener): void {
    if (this.#listeners.some(({ name }) => name === listener.name))
      throw internal(`two listeners of entries are called ${listener.name}`);
    this.#listeners.push(listener);
  }

  /** Entries that a write of this process has just appended. */
  announceAll(places: readonly EntryPosition[]): void {
    for (const place of places) void this.#announce(place, true);
  }

  /**
   * For a scheduled task, and after a start: announces what an earlier run left, and what failed.
   * @param which `due` leaves out what may be running on another node; both leave out what waits for its last attempt
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

  /** By hand: lets a parked entry be announced once more. */
  async unpark({ issueId, position }: EntryPosition): Promise<void> {
    await this.#deps.db.write((tx) => unpark(tx, placeOfEntry({ issueId, position })));
    await this.#announce({ issueId, position }, false);
  }

  /** Tries entries once more that an earlier server parked because it ended again and again. */
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

  #announce(place: EntryPosition, isBegun: boolean): Promise<void> {
    return this.#inTurn(place.issueId, () => announceEntry(this.#deps, this.#listeners, place, isBegun)).catch(
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
    // The last attempt waits at a start, too: a server that is killed again and again parks nothing.
    const now = this.#deps.clock.now();
    const second = which === 'due' ? now - secondTryAfterMs : now;
    const again = dueAgain('e', now);
    query.andWhere(again.sql, again.parameters);
    // What another node has just written is announced there.
    if (which === 'all') query.andWhere(isAlone(this.#deps.db));
    query.andWhere('(e.tried_at IS NULL OR e.tried_at <= :second)', { second });
    return query.getRawMany<EntryPosition>();
  }
}
