import { IsNull } from 'typeorm';
import type { Database, Tx } from '../db/index.ts';
import { unavailable, waitAtMost, withTimeout } from '../kernel/index.ts';
import type { Clock, Logger } from '../kernel/index.ts';
import { beginAnnouncement, beginAttempt, deferredListeners, endAnnouncement } from './attempts.ts';
import type { ServerTime } from './attempts.ts';
import type { Listener } from './listener.ts';
import type { EventPlace, Subject } from './announced-event.ts';

export interface AnnounceDeps {
  db: Database;
  logger: Logger;
  /** Time limit of each function of a listener, in milliseconds. */
  listenerTimeoutMs: number;
  clock: Clock;
  /** When this process began, in epoch milliseconds. */
  startedAt: number;
}

/** How long prepared effects wait for one more, to be recorded in the same write, in milliseconds. */
const othersWaitMs = 500;

/** A listener with the result of its `prepare`. */
interface PreparedListener<Event> {
  listener: Listener<Event>;
  prepared: unknown;
}

/**
 * Calls every listener that has not recorded the event yet. A failing listener is logged and called again later; the
 * others are called all the same. When the repository goes to the trash meanwhile, the rest waits until it is restored.
 * Concurrent announcements of one event are harmless. The caller leaves out parked events.
 * @param attempts announcements of this event that were begun before
 * @param isAttemptCounted whether the write that made the event has counted this announcement already
 */
export async function announce<Event>(
  deps: AnnounceDeps,
  subject: Subject<Event>,
  listeners: readonly Listener<Event>[],
  { attempts, isAttemptCounted }: { attempts: number; isAttemptCounted: boolean },
): Promise<void> {
  if (attempts > 0 && !isAttemptCounted && (await isDeferred(deps, subject, listeners))) return;
  const isCounted = isAttemptCounted && attempts === 1;
  const attempt = isCounted ? 1 : attempts + 1;
  if (!isCounted) await beginAnnouncement(deps.db, subject, attempt);
  await new Announcement(deps, subject, attempt).run(listeners);
}

/**
 * Has one listener record an event before its turn, for a caller that depends on what it records; nothing where it has
 * recorded the event already. Throws the error of the listener, which counts as none of its attempts.
 */
export async function announceAhead<Event>(
  deps: AnnounceDeps,
  subject: Subject<Event>,
  listener: Listener<Event>,
): Promise<void> {
  await new Announcement(deps, subject, 1).runAhead(listener);
}

const timeOf = ({ clock, startedAt }: AnnounceDeps): ServerTime => ({ startedAt, now: clock.now() });

/** Whether nobody would be called: what is left waits until the server has been up for a while. */
async function isDeferred<Event>(
  deps: AnnounceDeps,
  subject: Subject<Event>,
  listeners: readonly Listener<Event>[],
): Promise<boolean> {
  const deferred = await deferredListeners(deps.db, subject, timeOf(deps));
  if (deferred.size === 0) return false;
  const done = await marksIn(deps.db.read, subject);
  return listeners.every(({ name }) => deferred.has(name) || done.has(name));
}

async function marksIn(manager: Tx['before'] | Database['read'], { tables, key }: EventPlace): Promise<Set<string>> {
  const marks = (await manager.findBy(tables.marks, key)) as unknown as { listener: string }[];
  return new Set(marks.map(({ listener }) => listener));
}

class Announcement<Event> {
  readonly #deps: AnnounceDeps;
  readonly #subject: Subject<Event>;
  readonly #attempt: number;
  /** Listeners that failed this time, with their errors. */
  readonly #failures = new Map<string, unknown>();
  /** Listeners that have nothing to record. */
  readonly #idle: string[] = [];
  /** Listeners without further attempts: since now, or before. */
  readonly #exhausted = new Set<string>();
  /** Listeners that wait until the server has been up for a while. */
  readonly #deferred = new Set<string>();
  /** Whether the repository went to the trash meanwhile: the announcement ends, and the event waits. */
  #isHalted = false;

  constructor(deps: AnnounceDeps, subject: Subject<Event>, attempt: number) {
    this.#deps = deps;
    this.#subject = subject;
    this.#attempt = attempt;
  }

  /**
   * In the first announcement, effects of several listeners are recorded in one write, unless a client waits for one
   * of them: every write costs a sync of the disk, and most events need none. After a failure each listener gets a
   * write of its own, and its attempt is counted before it runs: the log then names one that crashes the server.
   */
  async run(listeners: readonly Listener<Event>[]): Promise<void> {
    const { db, logger } = this.#deps;
    const isRetry = this.#attempt > 1;
    const done = await marksIn(db.read, this.#subject);
    let preparedListeners: PreparedListener<Event>[] = [];
    for (const listener of listeners) {
      if (done.has(listener.name) || (isRetry && !(await this.#mayTry(listener)))) continue;
      const preparing = this.#prepare(listener);
      const isQuick = await waitAtMost(
        preparing.then(() => true),
        othersWaitMs,
      );
      if (isQuick === undefined && preparedListeners.length > 0) {
        await this.#record(preparedListeners, false);
        preparedListeners = [];
      }
      const preparedListener = await preparing;
      if (this.#isHalted) return;
      if (preparedListener === null) continue;
      preparedListeners.push(preparedListener);
      if (!isRetry && listener.isAwaited !== true) continue;
      await this.#record(preparedListeners, false);
      if (this.#isHalted) return;
      preparedListeners = [];
    }
    await this.#record(preparedListeners, true);
    if (this.#isHalted || this.#isForAll) return;
    const open = new Set([...this.#exhausted, ...this.#deferred]);
    const failing = [...this.#failures.keys()].filter((name) => !open.has(name));
    const isParked = failing.length === 0 && this.#deferred.size === 0;
    await endAnnouncement(db, this.#subject, { failures: this.#failures, open, idle: this.#idle, isParked });
    const { key, logNames } = this.#subject;
    if (isParked) logger.error(logNames.parked, { ...key, listeners: [...this.#exhausted] });
  }

  async runAhead(listener: Listener<Event>): Promise<void> {
    if ((await marksIn(this.#deps.db.read, this.#subject)).has(listener.name)) return;
    const { event } = this.#subject;
    const prepared = (await this.#inTime(listener, listener.prepare?.(event))) ?? null;
    if (prepared === null) return;
    const recorded = await this.#write([{ listener, prepared }], false);
    if (recorded.length > 0) await this.#inTime(listener, listener.recorded?.(event, prepared));
  }

  get #isForAll(): boolean {
    return this.#failures.size === 0 && this.#exhausted.size === 0 && this.#deferred.size === 0;
  }

  async #mayTry({ name }: Listener<Event>): Promise<boolean> {
    const verdict = await beginAttempt(this.#deps.db, this.#subject, name, timeOf(this.#deps));
    if (verdict === 'exhausted' || verdict === 'last try') this.#exhausted.add(name);
    if (verdict === 'later') this.#deferred.add(name);
    return verdict === 'try' || verdict === 'last try';
  }

  async #prepare(listener: Listener<Event>): Promise<PreparedListener<Event> | null> {
    try {
      const prepared = await this.#inTime(listener, listener.prepare?.(this.#subject.event));
      if (prepared !== null) return { listener, prepared };
      this.#exhausted.delete(listener.name);
      this.#idle.push(listener.name);
    } catch (error) {
      await this.#fail(listener, error);
    }
    return null;
  }

  /** When a shared write fails, each listener gets a write of its own: one of them must not block the others. */
  async #record(preparedListeners: readonly PreparedListener<Event>[], isLast: boolean): Promise<void> {
    let recorded: readonly PreparedListener<Event>[];
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
          if (this.#isHalted) return;
          if (again !== null) await this.#record([again], false);
        }
      if (isLast && preparedListeners.length > 1 && this.#isForAll && !this.#isHalted) await this.#write([], true);
      return;
    }
    for (const { listener, prepared } of recorded) {
      try {
        await this.#inTime(listener, listener.recorded?.(this.#subject.event, prepared));
      } catch (error) {
        // The effect is recorded; a waiter that was not notified polls soon.
        this.#log(listener, error);
      }
    }
  }

  /**
   * One write for the effects of several listeners. A fully announced event needs no marks per listener; until then
   * they record which ones are done. Both are checked again, because a concurrent announcement may have been faster.
   * @param isAll whether no further listeners are left
   * @returns the listeners that are done, including those with nothing to write
   */
  async #write(
    preparedListeners: readonly PreparedListener<Event>[],
    isAll: boolean,
  ): Promise<readonly PreparedListener<Event>[]> {
    const { tables, row, key, event } = this.#subject;
    const recording = preparedListeners.filter(({ listener }) => listener.record !== undefined);
    if (recording.length === 0 && !isAll) {
      this.#idle.push(...preparedListeners.map(({ listener }) => listener.name));
      return preparedListeners;
    }
    const write = async (tx: Tx): Promise<readonly PreparedListener<Event>[]> => {
      if (!(await tx.before.existsBy(tables.events, { ...row, announcedAt: IsNull() }))) return [];
      if (await this.#subject.isInTrash(tx.before)) {
        this.#isHalted = true;
        return [];
      }
      const done = await marksIn(tx.before, this.#subject);
      const open = preparedListeners.filter(({ listener }) => !done.has(listener.name));
      for (const { listener, prepared } of open) {
        // What it writes after its time limit is refused, because the write has ended.
        await this.#inTime(listener, listener.record?.(tx, event, prepared));
        if (!isAll) await tx.manager.insert(tables.marks, { ...key, listener: listener.name });
      }
      if (!isAll) return open;
      await tx.manager.update(tables.events, row, { announcedAt: tx.now, lastError: null, parkedAt: null });
      if (done.size > 0) await tx.manager.delete(tables.marks, key);
      if (this.#attempt > 1) await tx.manager.delete(tables.attempts, key);
      return open;
    };
    // If a power failure loses this record, the next start calls the listeners again, which have nothing to record
    // again.
    return this.#deps.db.write(write, recording.length === 0 ? { durable: 'with-the-next' } : {});
  }

  /** A listener that exceeds its time limit has failed, so that the next one is called. */
  #inTime<T>({ name }: Listener<Event>, work: Promise<T> | T): Promise<T> {
    const { listenerTimeoutMs } = this.#deps;
    const late = () => unavailable('listener_timed_out', `${name} did not end within ${listenerTimeoutMs / 1000} s.`);
    return withTimeout(work, listenerTimeoutMs, late);
  }

  async #fail(listener: Listener<Event>, error: unknown): Promise<void> {
    if (this.#isHalted || (await this.#subject.isInTrash(this.#deps.db.read))) {
      this.#isHalted = true;
      return;
    }
    this.#failures.set(listener.name, error);
    if (await this.#subject.hasRepositoryMoved()) {
      // The next attempt reads the repository at its new place, or finds that it is deleted.
      const { key, logNames } = this.#subject;
      this.#deps.logger.info(logNames.repositoryMoved, { ...key, listener: listener.name });
    } else this.#log(listener, error);
  }

  #log({ name }: Listener<Event>, error: unknown): void {
    const { key, logNames } = this.#subject;
    this.#deps.logger.error(logNames.listenerFailed, { ...key, listener: name, attempt: this.#attempt, error });
  }
}
