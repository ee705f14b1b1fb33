import { eachLimit, unavailable, waitAtMost } from '../../kernel/index.ts';
import type { RepositoryDeps } from '../deps.ts';
import { settlePushes } from './finish-pushes.ts';
import type { AnnouncementSlot, PushAnnouncer } from './push-announcer.ts';
import type { PushJournal } from './push-journal.ts';
import type { PushRow } from '../schema/push-schema.ts';
import { unannouncedPushes } from './unfinished-pushes.ts';

/** Repositories settled concurrently: each takes a git process and its files. */
const settledAtOnce = 4;

/** Unfinished pushes of one repository. */
interface UnfinishedPushes {
  /** Pushes without a recorded result. */
  unsettled: PushRow[];
  /** Pushes to announce, including those that will be settled. */
  ids: Set<string>;
  /** Later pushes are announced after these. */
  slot: AnnouncementSlot;
  /** Resolves when every push is settled or has failed to settle. */
  settled: PromiseWithResolvers<void>;
}

/**
 * Finishes pushes left by an earlier run while the server is running: the ports open first, so that neither a damaged
 * repository nor a hanging listener prevents the start. Reads are served; a push to a repository waits until its
 * earlier pushes are settled, and is announced after them.
 */
export class PushRecovery {
  readonly #deps: RepositoryDeps;
  readonly #journal: PushJournal;
  readonly #announcer: PushAnnouncer;
  #unfinished = new Map<string, UnfinishedPushes>();
  #isAborted = false;
  #running: Promise<void> | null = null;

  constructor(deps: RepositoryDeps, journal: PushJournal, announcer: PushAnnouncer) {
    this.#deps = deps;
    this.#journal = journal;
    this.#announcer = announcer;
  }

  /** Reads the unfinished pushes before any port opens, because no new push may come in between. */
  async begin(): Promise<void> {
    this.#endAll();
    this.#isAborted = false;
    const unfinishedOf = (repositoryId: string): UnfinishedPushes => {
      const known = this.#unfinished.get(repositoryId);
      if (known !== undefined) return known;
      const settled = Promise.withResolvers<void>();
      // Avoids an unhandled rejection if it is aborted without a waiter.
      settled.promise.catch(() => {});
      const unfinished = {
        unsettled: [],
        ids: new Set<string>(),
        slot: this.#announcer.reserveSlot(repositoryId),
        settled,
      };
      this.#unfinished.set(repositoryId, unfinished);
      return unfinished;
    };
    for (const push of await this.#journal.unsettled()) {
      const unfinished = unfinishedOf(push.repositoryId);
      unfinished.unsettled.push(push);
      unfinished.ids.add(push.id);
    }
    for (const { id, repositoryId } of await unannouncedPushes(this.#deps, 'all'))
      unfinishedOf(repositoryId).ids.add(id);
  }

  /** Settles and announces the pushes found by `begin`. Never fails: the scheduled task retries failures. */
  run(): Promise<void> {
    return (this.#running ??= this.#finish()
      .catch((error: unknown) => this.#deps.logger.error('push.recovery_failed', { error }))
      .finally(() => {
        this.#endAll();
        this.#running = null;
      }));
  }

  /** Resolves when `run` has ended; at once when it is not running. */
  async ended(): Promise<void> {
    await this.#running;
  }

  /**
   * Waits until a repository has no unsettled push of an earlier run, because new pushes are ordered after them. Throws
   * `repository_recovers` after a timeout, and when the server stops.
   */
  async ready(repositoryId: string): Promise<void> {
    const unfinished = this.#unfinished.get(repositoryId);
    if (unfinished === undefined) return;
    const isSettled = unfinished.settled.promise.then(() => true);
    if ((await waitAtMost(isSettled, this.#deps.settings.recoveryWaitMs)) === undefined) throw recovers();
  }

  /** Stops starting work and rejects all waiters. */
  abort(): void {
    this.#isAborted = true;
    for (const { settled } of this.#unfinished.values()) settled.reject(recovers());
    if (this.#running === null) this.#endAll();
  }

  async #finish(): Promise<void> {
    const waiting = [...this.#unfinished].filter(([, { unsettled }]) => unsettled.length > 0);
    for (const { unsettled, settled } of this.#unfinished.values()) if (unsettled.length === 0) settled.resolve();
    await eachLimit(waiting, settledAtOnce, async ([repositoryId, { unsettled, settled }]) => {
      if (this.#isAborted) return;
      await settlePushes(this.#deps, this.#journal, repositoryId, unsettled, { clean: true });
      settled.resolve();
    });

    // Oldest first, one at a time: if one of them crashes the server, no other push is counted with it.
    const due = (await unannouncedPushes(this.#deps, 'all')).filter(({ id, repositoryId }) =>
      this.#unfinished.get(repositoryId)?.ids.has(id),
    );
    const lastOf = new Map(due.map(({ id, repositoryId }) => [repositoryId, id]));
    for (const [repositoryId] of this.#unfinished) if (!lastOf.has(repositoryId)) this.#end(repositoryId);
    for (const { id, repositoryId } of due) {
      if (this.#isAborted) return;
      await this.#unfinished.get(repositoryId)?.slot.announce(id);
      if (lastOf.get(repositoryId) === id) this.#end(repositoryId);
    }
  }

  /** Allows newer pushes to a repository to be announced. */
  #end(repositoryId: string): void {
    this.#unfinished.get(repositoryId)?.slot.end();
    this.#unfinished.delete(repositoryId);
  }

  #endAll(): void {
    for (const { settled, slot } of this.#unfinished.values()) {
      settled.resolve();
      slot.end();
    }
    this.#unfinished = new Map();
  }
}

const recovers = () =>
  unavailable('repository_recovers', 'This repository is being checked after a restart. Try again in a moment.', {
    retryAfterSeconds: 10,
  });
