import { retryCutOff } from '../../announcements/index.ts';
import { createKeyedMutex, waitAtMost } from '../../kernel/index.ts';
import type { RepositoryDeps } from '../deps.ts';
import { announcePush } from './announce-push.ts';
import type { AnnounceOptions, PushListener } from './announce-push.ts';
import type { PushJournal } from './push-journal.ts';

/**
 * How long a stop waits for announcements. A hanging listener must not block the exit; unfinished announcements are
 * repeated at the next start.
 */
const stopTimeoutMs = 10_000;

/** A place in the announcement queue of one repository, taken before its pushes are known. */
export interface AnnouncementSlot {
  announce(pushId: string): Promise<void>;
  /** Releases the place for later pushes. */
  end(): void;
}

/**
 * Notifies listeners of pushes in parallel to the response to the client: a failure here does not affect the push.
 * Announcements of one repository are serialised, so that the last push is announced last.
 */
export class PushAnnouncer {
  readonly #deps: RepositoryDeps;
  readonly #journal: PushJournal;
  readonly #listeners: readonly PushListener[];
  /** By repository. */
  readonly #enqueue = createKeyedMutex();
  readonly #startedAt: number;

  constructor(deps: RepositoryDeps, journal: PushJournal, listeners: readonly PushListener[]) {
    this.#deps = deps;
    this.#journal = journal;
    this.#listeners = listeners;
    this.#startedAt = deps.clock.now();
  }

  announce(pushId: string, repositoryId: string, options: AnnounceOptions = {}): Promise<void> {
    return this.#enqueue(repositoryId, () => this.#announce(pushId, options));
  }

  /** Resolves when the pushes that a repository has by now are announced, or when time is up. */
  async whenAnnounced(repositoryId: string, waitMs: number): Promise<void> {
    await waitAtMost(
      this.#enqueue(repositoryId, async () => {}),
      waitMs,
    );
  }

  /** Takes a place in the queue of a repository now, for pushes that are announced later. */
  reserveSlot(repositoryId: string): AnnouncementSlot {
    const { promise, resolve } = Promise.withResolvers<void>();
    void this.#enqueue(repositoryId, () => promise);
    return { announce: (pushId) => this.#announce(pushId, {}), end: resolve };
  }

  /** For a scheduled task: tries pushes once more that an earlier server parked because it ended again and again. */
  retryCutOff(): Promise<void> {
    const tables = { events: 'pushes', attempts: 'push_listener_attempts', join: [['id', 'push_id']] } as const;
    return retryCutOff(this.#deps.db, tables, { startedAt: this.#startedAt, now: this.#deps.clock.now() });
  }

  async stop(): Promise<void> {
    await waitAtMost(this.#enqueue.settled(), stopTimeoutMs);
    const repositories = this.#enqueue.held();
    if (repositories > 0) this.#deps.logger.warn('push.announcements_left', { repositories });
  }

  #announce(pushId: string, options: AnnounceOptions): Promise<void> {
    const startedAt = this.#startedAt;
    return announcePush(this.#deps, this.#journal, this.#listeners, pushId, { ...options, startedAt }).catch(
      (error: unknown) => this.#deps.logger.error('push.announce_failed', { pushId, error }),
    );
  }
}
