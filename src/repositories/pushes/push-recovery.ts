import { eachLimit, unavailable, waitAtMost } from '../../kernel/index.ts';
import type { RepositoryDeps } from '../deps.ts';
import { settlePushes } from './finish-pushes.ts';
import type { AnnouncementTurn, PushAnnouncer } from './push-announcer.ts';
import type { PushJournal } from './push-journal.ts';
import type { PushRow } from '../schema/push-schema.ts';
import { unannouncedPushes } from './unfinished-pushes.ts';

/** Repositories that are settled at once: each is a git process and its files. */
const settledAtOnce = 4;

/** What is left of one repository. */
interface Left {
  /** Whose verdict was never written. */
  unsettled: PushRow[];
  /** To be announced, those that will be settled included. */
  ids: Set<string>;
  /** Pushes that come from now on are told of after these. */
  turn: AnnouncementTurn;
  /** Resolves when nothing is unsettled any more, or could not be settled. */
  settled: PromiseWithResolvers<void>;
}

/**
 * Finishes the pushes that an earlier run left, while the server serves: the ports are open
 * before any of this, so that neither a damaged repository nor a listener that hangs keeps
 * the whole server from starting. Reading goes on; a push to a repository waits until what
 * was left there is settled, and is told of after it.
 */
export class PushRecovery {
  readonly #deps: RepositoryDeps;
  readonly #journal: PushJournal;
  readonly #announcer: PushAnnouncer;
  #left = new Map<string, Left>();
  #isAborted = false;
  #running: Promise<void> | null = null;

  constructor(deps: RepositoryDeps, journal: PushJournal, announcer: PushAnnouncer) {
    this.#deps = deps;
    this.#journal = journal;
    this.#announcer = announcer;
  }

  /** Notes what is left, before any port opens: nothing may come in between. */
  async begin(): Promise<void> {
    this.#endAll();
    this.#isAborted = false;
    const leftOf = (repositoryId: string): Left => {
      const known = this.#left.get(repositoryId);
      if (known !== undefined) return known;
      const settled = Promise.withResolvers<void>();
      // Nobody may be waiting when it is aborted.
      settled.promise.catch(() => {});
      const left = { unsettled: [], ids: new Set<string>(), turn: this.#announcer.takeTurn(repositoryId), settled };
      this.#left.set(repositoryId, left);
      return left;
    };
    for (const push of await this.#journal.unsettled()) {
      const left = leftOf(push.repositoryId);
      left.unsettled.push(push);
      left.ids.add(push.id);
    }
    for (const { id, repositoryId } of await unannouncedPushes(this.#deps, 'all')) leftOf(repositoryId).ids.add(id);
  }

  /** Settles and announces what `begin` has found. Never fails: what cannot be done now is a job's later. */
  run(): Promise<void> {
    return (this.#running ??= this.#finish()
      .catch((error: unknown) => this.#deps.logger.error('push.recovery_failed', { error }))
      .finally(() => {
        this.#endAll();
        this.#running = null;
      }));
  }

  /** Resolves when `run` has ended; at once when it is not at work. */
  async ended(): Promise<void> {
    await this.#running;
  }

  /**
   * Waits until nothing of an earlier run is unsettled in a repository: a push is ordered after it.
   * Refuses `repository_recovers` after a while, and when the server stops.
   */
  async ready(repositoryId: string): Promise<void> {
    const left = this.#left.get(repositoryId);
    if (left === undefined) return;
    const isSettled = left.settled.promise.then(() => true);
    if ((await waitAtMost(isSettled, this.#deps.settings.recoveryWaitMs)) === undefined) throw recovers();
  }

  /** Begins nothing more, and sends away who waits. */
  abort(): void {
    this.#isAborted = true;
    for (const { settled } of this.#left.values()) settled.reject(recovers());
    if (this.#running === null) this.#endAll();
  }

  async #finish(): Promise<void> {
    const waiting = [...this.#left].filter(([, { unsettled }]) => unsettled.length > 0);
    for (const { unsettled, settled } of this.#left.values()) if (unsettled.length === 0) settled.resolve();
    await eachLimit(waiting, settledAtOnce, async ([repositoryId, { unsettled, settled }]) => {
      if (this.#isAborted) return;
      await settlePushes(this.#deps, this.#journal, repositoryId, unsettled, { clean: true });
      settled.resolve();
    });

    // Oldest first and one after the other: should one of them take the server with it, no other push is counted with it.
    const due = (await unannouncedPushes(this.#deps, 'all')).filter(({ id, repositoryId }) =>
      this.#left.get(repositoryId)?.ids.has(id),
    );
    const lastOf = new Map(due.map(({ id, repositoryId }) => [repositoryId, id]));
    for (const [repositoryId] of this.#left) if (!lastOf.has(repositoryId)) this.#end(repositoryId);
    for (const { id, repositoryId } of due) {
      if (this.#isAborted) return;
      await this.#left.get(repositoryId)?.turn.announce(id);
      if (lastOf.get(repositoryId) === id) this.#end(repositoryId);
    }
  }

  /** Lets newer pushes to a repository be told of. */
  #end(repositoryId: string): void {
    this.#left.get(repositoryId)?.turn.end();
    this.#left.delete(repositoryId);
  }

  #endAll(): void {
    for (const { settled, turn } of this.#left.values()) {
      settled.resolve();
      turn.end();
    }
    this.#left = new Map();
  }
}

const recovers = () =>
  unavailable('repository_recovers', 'This repository is being checked after a restart. Try again in a moment.', {
    retryAfterSeconds: 10,
  });
