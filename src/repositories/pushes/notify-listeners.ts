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
  /** UUID of the person who pushed; `null` for the command line and deleted accounts. */
  pusherId: string | null;
  via: PushRow['via'];
  options: readonly string[];
  /** Only the commands that took effect. */
  updates: readonly RefUpdate[];
  /** Milliseconds since the epoch. */
  arrivedAt: number;
}

/**
 * The port through which other modules subscribe to pushes; `app.ts` registers them. `prepare` may be slow (git,
 * files) and may run again; `record` runs inside the write that also marks this listener as done, so a push is
 * recorded exactly once per listener, even after a crash. A failed write is retried with the result of a new
 * `prepare`. Each of the three has a time limit (`listenerTimeoutMs`), after which it counts as failed; a listener
 * that has failed three times with a push is not called for it again, and the push is parked until a person retries
 * it.
 */
export interface PushListener<Prepared = unknown> {
  /** Stable; stored in the database. */
  name: string;
  /** Whether a client waits for what this listener records: it is written before the next listeners are called. */
  isAwaited?: boolean;
  /** A message for the person who pushes about a push option; null for an unknown one. */
  remarkOn?(option: string): string | null;
  /** Null when there is nothing to record; the listener is then done with the push. */
  prepare?(push: AnnouncedPush): Promise<Prepared | null>;
  record?(tx: Tx, push: AnnouncedPush, prepared: Prepared): Promise<void>;
  /** Called once that write is durable: the moment to notify waiters. The next listener is called after it. */
  recorded?(push: AnnouncedPush, prepared: Prepared): unknown;
}

/** A listener with the result of its `prepare`. */
interface PreparedListener {
  listener: PushListener;
  prepared: unknown;
}

export interface AnnounceOptions {
  /** Whether the write that settled the push has counted this announcement already. */
  isBegun?: boolean;
}

/**
 * Calls every listener that has not recorded the push yet. A failing listener is logged and called again later, by
 * `finishPushes`; the others are called all the same. Concurrent announcements of one push are harmless. A parked push
 * is skipped.
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
  await new Announcement(deps, push, attempt).run(listeners);
}

class Announcement {
  readonly #deps: RepositoryDeps;
  readonly #push: AnnouncedPush;
  readonly #attempt: number;
  /** Listeners that failed this time, with their errors. */
  readonly #failures = new Map<string, unknown>();
  /** Listeners without further attempts: since now, or before. */
  readonly #exhausted = new Set<string>();

  constructor(deps: RepositoryDeps, push: AnnouncedPush, attempt: number) {
    this.#deps = deps;
    this.#push = push;
    this.#attempt = attempt;
  }

  /**
   * In the first announcement, effects of several listeners are recorded in one write, unless a client waits for one
   * of them: every write costs a sync of the disk, and most pushes need none. After a failure each listener gets a
   * write of its own, and its attempt is counted before it runs: one that crashes the server is then known by name.
   */
  async run(listeners: readonly PushListener[]): Promise<void> {
    const { db } = this.#deps;
    const isRetry = this.#attempt > 1;
    const done = new Set(
      (await db.read.findBy(pushAnnouncementSchema, { pushId: this.#push.id })).map((row) => row.listener),
    );
    let preparedListeners: PreparedListener[] = [];
    for (const listener of listeners) {
      if (done.has(listener.name) || (isRetry && !(await this.#mayTry(listener)))) continue;
      const preparedListener = await this.#prepare(listener);
      if (preparedListener === null) continue;
      preparedListeners.push(preparedListener);
      if (!isRetry && listener.isAwaited !== true) continue;
      await this.#record(preparedListeners, false);
      preparedListeners = [];
    }
    await this.#record(preparedListeners, true);
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

  async #prepare(listener: PushListener): Promise<PreparedListener | null> {
    try {
      const prepared = await this.#inTime(listener, listener.prepare?.(this.#push));
      if (prepared !== null) return { listener, prepared };
      this.#exhausted.delete(listener.name);
    } catch (error) {
      await this.#fail(listener, error);
    }
    return null;
  }

  /** When a shared write fails, each listener gets a write of its own: one of them must not block the others. */
  async #record(preparedListeners: readonly PreparedListener[], isLast: boolean): Promise<void> {
    let recorded: readonly PreparedListener[];
    try {
      recorded = await this.#write(preparedListeners, isLast && this.#isForAll);
      // Also those that a concurrent announcement has notified.
      for (const { listener } of preparedListeners) this.#exhausted.delete(listener.name);
    } catch (error) {
      if (preparedListeners.length === 0) throw error;
      if (preparedListeners.length === 1) await this.#fail(preparedListeners[0]!.listener, error);
      else
        for (const { listener } of preparedListeners) {
          const again = await this.#prepare(listener);
          if (again !== null) await this.#record([again], false);
        }
      if (isLast && preparedListeners.length > 1 && this.#isForAll) await this.#write([], true);
      return;
    }
    for (const { listener, prepared } of recorded) {
      try {
        await this.#inTime(listener, listener.recorded?.(this.#push, prepared));
      } catch (error) {
        // The effect is recorded; a waiter that was not notified polls soon.
        this.#log(listener, error);
      }
    }
  }

  /**
   * One write for the effects of several listeners. A fully announced push needs no marks per listener; until then
   * they record which ones are done. Both are checked again, because a concurrent announcement may have been faster.
   * @param isAll whether no further listeners are left
   * @returns the listeners that are done, including those with nothing to write
   */
  async #write(preparedListeners: readonly PreparedListener[], isAll: boolean): Promise<readonly PreparedListener[]> {
    const push = this.#push;
    const recording = preparedListeners.filter(({ listener }) => listener.record !== undefined);
    if (recording.length === 0 && !isAll) return preparedListeners;
    const write = async (tx: Tx): Promise<readonly PreparedListener[]> => {
      if (!(await tx.before.existsBy(pushSchema, { id: push.id, announcedAt: IsNull() }))) return [];
      const marks = await tx.before.findBy(pushAnnouncementSchema, { pushId: push.id });
      const done = new Set(marks.map(({ listener }) => listener));
      const open = preparedListeners.filter(({ listener }) => !done.has(listener.name));
      for (const { listener, prepared } of open) {
        // What it writes after its time limit is refused, because the write has ended.
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
    // If a power failure loses this record, the next start calls the listeners again, which have nothing to record
    // again.
    return this.#deps.db.write(write, recording.length === 0 ? { durable: 'with-the-next' } : {});
  }

  /** A listener that exceeds its time limit has failed, so that the next one is called. */
  #inTime<T>({ name }: PushListener, work: Promise<T> | T): Promise<T> {
    const { listenerTimeoutMs } = this.#deps.settings;
    const late = () => unavailable('listener_timed_out', `${name} did not end within ${listenerTimeoutMs / 1000} s.`);
    return withTimeout(work, listenerTimeoutMs, late);
  }

  async #fail(listener: PushListener, error: unknown): Promise<void> {
    this.#failures.set(listener.name, error);
    if (await this.#hasRepositoryMoved()) {
      // The next attempt reads the repository at its new place, or finds that it is deleted.
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
