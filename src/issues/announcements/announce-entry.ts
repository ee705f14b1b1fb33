import { IsNull } from 'typeorm';
import type { Database, Tx } from '../../db/index.ts';
import { unavailable, withTimeout } from '../../kernel/index.ts';
import type { Logger } from '../../kernel/index.ts';
import type { Repositories } from '../../repositories/index.ts';
import { toEntry } from '../entries/entry.ts';
import { entryAnnouncementSchema, entryListenerAttemptsSchema, entrySchema } from '../schema/entry-schema.ts';
import { issueSchema } from '../schema/issue-schema.ts';
import { beginAnnouncement, beginAttempt, endAnnouncement, maxAttempts } from './entry-attempts.ts';
import type { EntryPlace } from './entry-attempts.ts';
import type { AnnouncedEntry, EntryListener } from './entry-listener.ts';

export interface AnnouncementDeps {
  db: Database;
  repositories: Pick<Repositories, 'locate'>;
  logger: Logger;
  listenerTimeoutMs: number;
}

/** A listener with what it has prepared. */
interface Turn {
  listener: EntryListener;
  prepared: unknown;
}

/**
 * Tells every listener that has not recorded the entry yet. A listener that fails is logged and asked again later; the
 * others hear all the same. Two announcements of one entry at once do no harm. Parked and held entries are left alone.
 * @param isBegun whether the write that appended the entry has counted this announcement already
 */
export async function announceEntry(
  deps: AnnouncementDeps,
  listeners: readonly EntryListener[],
  { issueId, position }: EntryPlace,
  isBegun: boolean,
): Promise<void> {
  const place = { issueId, position };
  const open = { announcedAt: IsNull(), parkedAt: IsNull(), heldAt: IsNull() };
  const row = await deps.db.read.findOneBy(entrySchema, { ...place, ...open });
  const issue = row === null ? null : await deps.db.read.findOneBy(issueSchema, { id: issueId });
  if (row === null || issue === null) return;
  const located = (await deps.repositories.locate([issue.repositoryId])).get(issue.repositoryId);
  // In the trash: told when it is restored.
  if (located === undefined) return;
  const isFirst = isBegun && row.attempts === 1;
  if (!isFirst) await beginAnnouncement(deps.db, place, row.attempts + 1);
  const announced = { repository: located.repository, issue, entry: toEntry(row) };
  await new Announcement(deps, place, announced, !isFirst && row.attempts > 0).tell(listeners);
}

class Announcement {
  readonly #deps: AnnouncementDeps;
  readonly #place: EntryPlace;
  readonly #announced: AnnouncedEntry;
  /** Each listener is alone with its try then. */
  readonly #isRetry: boolean;
  readonly #failures = new Map<string, unknown>();
  /** Who has had all tries: now, or before. */
  readonly #exhausted = new Set<string>();

  constructor(deps: AnnouncementDeps, place: EntryPlace, announced: AnnouncedEntry, isRetry: boolean) {
    this.#deps = deps;
    this.#place = place;
    this.#announced = announced;
    this.#isRetry = isRetry;
  }

  /** The first time, all of them are one write: every write costs a sync of the disk. */
  async tell(listeners: readonly EntryListener[]): Promise<void> {
    const marks = await this.#deps.db.read.findBy(entryAnnouncementSchema, { ...this.#place });
    const done = new Set(marks.map(({ listener }) => listener));
    const turns: Turn[] = [];
    for (const listener of listeners) {
      if (done.has(listener.name) || (this.#isRetry && !(await this.#mayTry(listener)))) continue;
      const turn = await this.#prepare(listener);
      if (turn === null) continue;
      if (this.#isRetry) await this.#record([turn], false);
      else turns.push(turn);
    }
    await this.#record(turns, true);
    if (this.#isForAll) return;
    const open = new Set([...this.#failures.keys(), ...this.#exhausted]);
    const isParked = open.size === this.#exhausted.size;
    await endAnnouncement(this.#deps.db, this.#place, { failures: this.#failures, isParked });
    if (isParked) this.#deps.logger.error('issue.entry_parked', { ...this.#place, listeners: [...open] });
  }

  get #isForAll(): boolean {
    return this.#failures.size === 0 && this.#exhausted.size === 0;
  }

  async #mayTry({ name }: EntryListener): Promise<boolean> {
    const tries = await beginAttempt(this.#deps.db, this.#place, name);
    if (tries === null || tries === maxAttempts) this.#exhausted.add(name);
    return tries !== null;
  }

  async #prepare(listener: EntryListener): Promise<Turn | null> {
    try {
      const prepared = await this.#inTime(listener, listener.prepare?.(this.#announced));
      if (prepared !== null) return { listener, prepared };
      this.#exhausted.delete(listener.name);
    } catch (error) {
      this.#fail(listener, error);
    }
    return null;
  }

  /** Where one of several fails in a common write, each has one of its own: it must not keep the others from theirs. */
  async #record(turns: readonly Turn[], isLast: boolean): Promise<void> {
    let recorded: readonly Turn[];
    try {
      recorded = await this.#write(turns, isLast && this.#isForAll);
      // Also those whom another announcement was quicker to tell.
      for (const { listener } of turns) this.#exhausted.delete(listener.name);
      if (isLast && this.#isRetry && this.#isForAll) await this.#write([], true);
    } catch (error) {
      if (turns.length === 0) throw error;
      if (turns.length === 1) this.#fail(turns[0]!.listener, error);
      else
        for (const { listener } of turns) {
          const again = await this.#prepare(listener);
          if (again !== null) await this.#record([again], false);
        }
      if (isLast && turns.length > 1 && this.#isForAll) await this.#write([], true);
      return;
    }
    for (const { listener, prepared } of recorded) {
      try {
        await this.#inTime(listener, listener.recorded?.(this.#announced, prepared));
      } catch (error) {
        // It is recorded: the user who was to be woken up looks again before long.
        this.#log(listener, error);
      }
    }
  }

  /**
   * One write for what several listeners have to record. Marks say who has been here, until the entry is announced.
   * @param isAll whether no further listeners are left
   * @returns whose part is written
   */
  #write(turns: readonly Turn[], isAll: boolean): Promise<readonly Turn[]> {
    const write = async (tx: Tx): Promise<readonly Turn[]> => {
      const { manager } = tx;
      if (!(await tx.before.existsBy(entrySchema, { ...this.#place, announcedAt: IsNull() }))) return [];
      const marks = await tx.before.findBy(entryAnnouncementSchema, { ...this.#place });
      const done = new Set(marks.map(({ listener }) => listener));
      const open = turns.filter(({ listener }) => !done.has(listener.name));
      for (const { listener, prepared } of open) {
        // What it writes after its time is refused by the write that has ended.
        await this.#inTime(listener, listener.record?.(tx, this.#announced, prepared));
        if (!isAll) await manager.insert(entryAnnouncementSchema, { ...this.#place, listener: listener.name });
      }
      if (!isAll) return open;
      await manager.update(entrySchema, { ...this.#place }, { announcedAt: tx.now, lastError: null });
      if (marks.length > 0) await manager.delete(entryAnnouncementSchema, { ...this.#place });
      if (this.#isRetry) await manager.delete(entryListenerAttemptsSchema, { ...this.#place });
      return open;
    };
    // Where a power failure takes the note back, listeners are asked again, and have nothing to record again.
    const isNoteOnly = turns.every(({ listener }) => listener.record === undefined);
    return this.#deps.db.write(write, isNoteOnly ? { durable: 'with-the-next' } : {});
  }

  #inTime<T>({ name }: EntryListener, work: Promise<T> | T): Promise<T> {
    const { listenerTimeoutMs } = this.#deps;
    const late = () => unavailable('listener_timed_out', `${name} did not end within ${listenerTimeoutMs / 1000} s.`);
    return withTimeout(work, listenerTimeoutMs, late);
  }

  #fail(listener: EntryListener, error: unknown): void {
    this.#failures.set(listener.name, error);
    this.#log(listener, error);
  }

  #log({ name }: EntryListener, error: unknown): void {
    this.#deps.logger.error('issue.listener_failed', { ...this.#place, listener: name, error });
  }
}
