import { IsNull } from 'typeorm';
import type { Tx } from '../../db/index.ts';
import { unavailable, withTimeout } from '../../kernel/index.ts';
import { repositorySchema } from '../schema/repository-schema.ts';
import type { Repository } from '../schema/repository-schema.ts';
import type { RepositoryDeps } from '../deps.ts';
import { beginAnnouncement, beginAttempt, endAnnouncement, maxAttempts } from './listener-attempts.ts';
import type { PushJournal, RefUpdate } from './push-journal.ts';
import { pushAnnouncementSchema, pushListenerAttemptsSchema, pushSchema } from '../schema/push-schema.ts';
import type { PushRow } from '../schema/push-schema.ts';

/** A push that git accepted, at least in part. */
export interface AnnouncedPush {
  id: string;
  repository: Repository;
  /** UUID of who pushed; `null` for the command line and once the person is gone. */
  pusherId: string | null;
  via: PushRow['via'];
  options: readonly string[];
  /** Only the commands that took effect. */
  updates: readonly RefUpdate[];
  /** Milliseconds since the epoch. */
  arrivedAt: number;
}

/**
 * The port through which other rooms hear of pushes (DESIGN §1). `app.ts` plugs
 * them in. `prepare` may be slow (git, files) and may run again; `record` runs inside
 * the write that also notes that this listener is done, so a push is recorded exactly
 * once per listener whatever dies when. A write that fails is tried again with what a
 * new `prepare` says. Each of the three has a limited time (`listenerTimeoutMs`), after
 * which it counts as failed; a listener that has failed three times with a push is not
 * asked about it again, and the push is parked until a person has it tried again.
 */
export interface PushListener<Prepared = unknown> {
  /** Stable; kept in the database. */
  name: string;
  /** Whether somebody waits for what this one records: it is written before the listeners behind are asked. */
  isAwaited?: boolean;
  /** What the listener does about a push option, in a line for whoever pushes; null for one that it does not know. */
  remarkOn?(option: string): string | null;
  /** Null when there is nothing to record; the listener is done with the push then. */
  prepare?(push: AnnouncedPush): Promise<Prepared | null>;
  record?(tx: Tx, push: AnnouncedPush, prepared: Prepared): Promise<void>;
  /** Called once that write is durable: the moment to wake somebody up. The next listener has its turn after it. */
  recorded?(push: AnnouncedPush, prepared: Prepared): unknown;
}

/** A listener with what it has prepared. */
interface Turn {
  listener: PushListener;
  prepared: unknown;
}

export interface AnnounceOptions {
  /** The write that settled the push has counted this announcement already. */
  isBegun?: boolean;
}

/**
 * Tells every listener that has not recorded the push yet. A listener that fails is logged
 * and asked again later, by `finishPushes`; the others hear all the same. Two announcements
 * of one push at once do no harm. A parked push is left alone.
 */
export async function notifyListeners(
  deps: RepositoryDeps,
  journal: PushJournal,
  listeners: readonly PushListener[],
  pushId: string,
  { isBegun = false }: AnnounceOptions = {},
): Promise<void> {
  const row = await deps.db.read.findOneBy(pushSchema, { id: pushId, announcedAt: IsNull(), parkedAt: IsNull() });
  const push = row === null ? null : await announcedPush(deps, journal, row);
  if (row === null || push === null) return;
  const isCounted = isBegun && row.attempts === 1;
  const attempt = isCounted ? 1 : row.attempts + 1;
  if (!isCounted) await beginAnnouncement(deps.db, pushId, attempt);
  await new Announcement(deps, push, attempt).tell(listeners);
}

class Announcement {
  readonly #deps: RepositoryDeps;
  readonly #push: AnnouncedPush;
  readonly #attempt: number;
  /** Who failed this time, and how. */
  readonly #failures = new Map<string, unknown>();
  /** Who has had all tries: now, or before. */
  readonly #exhausted = new Set<string>();

  constructor(deps: RepositoryDeps, push: AnnouncedPush, attempt: number) {
    this.#deps = deps;
    this.#push = push;
    this.#attempt = attempt;
  }

  /**
   * The first time, what listeners record is written at once, as far as nobody waits for a
   * part of it: every write costs a sync of the disk, and most pushes give them nothing to
   * record. After a failure each listener is alone with its try, which is counted before it
   * runs: one that takes the server with it is then known by name.
   */
  async tell(listeners: readonly PushListener[]): Promise<void> {
    const { db } = this.#deps;
    const isRetry = this.#attempt > 1;
    const done = new Set(
      (await db.read.findBy(pushAnnouncementSchema, { pushId: this.#push.id })).map((row) => row.listener),
    );
    let turns: Turn[] = [];
    for (const listener of listeners) {
      if (done.has(listener.name) || (isRetry && !(await this.#mayTry(listener)))) continue;
      const turn = await this.#prepare(listener);
      if (turn === null) continue;
      turns.push(turn);
      if (!isRetry && listener.isAwaited !== true) continue;
      await this.#record(turns, false);
      turns = [];
    }
    await this.#record(turns, true);
    if (this.#isForAll) return;
    const open = new Set([...this.#failures.keys(), ...this.#exhausted]);
    const isParked = open.size === this.#exhausted.size;
    await endAnnouncement(db, this.#push.id, { failures: this.#failures, exhausted: this.#exhausted, isParked });
    if (isParked) this.#deps.logger.error('push.parked', { pushId: this.#push.id, listeners: [...open] });
  }

  get #isForAll(): boolean {
    return this.#failures.size === 0 && this.#exhausted.size === 0;
  }

  async #mayTry(listener: PushListener): Promise<boolean> {
    const before = this.#attempt > 1 ? 1 : 0;
    const tries = await beginAttempt(this.#deps.db, this.#push.id, listener.name, before);
    if (tries === null || tries === maxAttempts) this.#exhausted.add(listener.name);
    return tries !== null;
  }

  async #prepare(listener: PushListener): Promise<Turn | null> {
    try {
      const prepared = await this.#inTime(listener, listener.prepare?.(this.#push));
      if (prepared !== null) return { listener, prepared };
      this.#exhausted.delete(listener.name);
    } catch (error) {
      await this.#fail(listener, error);
    }
    return null;
  }

  /** Those of one write that failed have a write of their own each: one of them must not keep the others from theirs. */
  async #record(turns: readonly Turn[], isLast: boolean): Promise<void> {
    let recorded: readonly Turn[];
    try {
      recorded = await this.#write(turns, isLast && this.#isForAll);
      // Also those whom another announcement was quicker to tell.
      for (const { listener } of turns) this.#exhausted.delete(listener.name);
    } catch (error) {
      if (turns.length === 0) throw error;
      if (turns.length === 1) await this.#fail(turns[0]!.listener, error);
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
        await this.#inTime(listener, listener.recorded?.(this.#push, prepared));
      } catch (error) {
        // It is recorded: whoever was to be woken up looks again before long.
        this.#log(listener, error);
      }
    }
  }

  /**
   * One write for what several listeners have to say. A push that is announced needs no marks;
   * until then they say who has been here. Both are asked again: another announcement may have been quicker.
   * @param isAll whether nobody is left to be told
   * @returns whose part is written; with those who have nothing to write
   */
  async #write(turns: readonly Turn[], isAll: boolean): Promise<readonly Turn[]> {
    const push = this.#push;
    const recording = turns.filter(({ listener }) => listener.record !== undefined);
    if (recording.length === 0 && !isAll) return turns;
    const write = async (tx: Tx): Promise<readonly Turn[]> => {
      if (!(await tx.before.existsBy(pushSchema, { id: push.id, announcedAt: IsNull() }))) return [];
      const marks = await tx.before.findBy(pushAnnouncementSchema, { pushId: push.id });
      const done = new Set(marks.map(({ listener }) => listener));
      const open = turns.filter(({ listener }) => !done.has(listener.name));
      for (const { listener, prepared } of open) {
        // What it writes after its time is refused by the write that has ended.
        await this.#inTime(listener, listener.record?.(tx, push, prepared));
        if (!isAll) await tx.manager.insert(pushAnnouncementSchema, { pushId: push.id, listener: listener.name });
      }
      if (!isAll) return open;
      const told = { announcedAt: tx.now, lastError: null, parkedAt: null };
      await tx.manager.update(pushSchema, { id: push.id }, told);
      if (marks.length > 0) await tx.manager.delete(pushAnnouncementSchema, { pushId: push.id });
      if (this.#attempt > 1) await tx.manager.delete(pushListenerAttemptsSchema, { pushId: push.id });
      return open;
    };
    // Where a power failure takes the note back, the next start asks the listeners again, and they have nothing to say again.
    return this.#deps.db.write(write, recording.length === 0 ? { durable: 'with-the-next' } : {});
  }

  /** A listener that hangs has failed, so that the next one has its turn. */
  #inTime<T>({ name }: PushListener, work: Promise<T> | T): Promise<T> {
    const { listenerTimeoutMs } = this.#deps.settings;
    const late = () => unavailable('listener_timed_out', `${name} did not end within ${listenerTimeoutMs / 1000} s.`);
    return withTimeout(work, listenerTimeoutMs, late);
  }

  async #fail(listener: PushListener, error: unknown): Promise<void> {
    this.#failures.set(listener.name, error);
    if (await this.#hasRepositoryMoved()) {
      // The next attempt reads the repository at its new place, or finds that it is gone.
      this.#deps.logger.info('push.repository_moved', { pushId: this.#push.id, listener: listener.name });
    } else this.#log(listener, error);
  }

  /** Whether the repository was transferred or deleted while the listener read it. */
  async #hasRepositoryMoved(): Promise<boolean> {
    const { id, ownerUserId, ownerOrganisationId } = this.#push.repository;
    const now = await this.#deps.db.read.findOneBy(repositorySchema, { id });
    return now === null || now.ownerUserId !== ownerUserId || now.ownerOrganisationId !== ownerOrganisationId;
  }

  #log({ name }: PushListener, error: unknown): void {
    const { id: pushId } = this.#push;
    this.#deps.logger.error('push.listener_failed', { pushId, listener: name, attempt: this.#attempt, error });
  }
}

async function announcedPush(deps: RepositoryDeps, journal: PushJournal, row: PushRow): Promise<AnnouncedPush | null> {
  const repository = await deps.db.read.findOneBy(repositorySchema, { id: row.repositoryId });
  if (repository === null) return null;
  return {
    id: row.id,
    repository,
    pusherId: row.userId,
    via: row.via,
    options: JSON.parse(row.options) as string[],
    updates: await journal.updatesOf(row.id, 'accepted'),
    arrivedAt: row.settledAt ?? row.createdAt,
  };
}
