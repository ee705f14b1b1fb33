import { retryCutOff } from '../../announcements/index.ts';
import { createKeyedMutex, waitAtMost } from '../../kernel/index.ts';
import type { RepositoryDeps } from '../deps.ts';
import { announcePush } from './announce-push.ts';
import type { AnnounceOptions, PushListener } from './announce-push.ts';
import type { PushJournal } from './push-journal.ts';

/**
 * Time that a shutdown waits for announcements. A hanging listener must not block the exit; the next start repeats
 * unfinished announcements.
 */
const stopTimeoutMs = 10_000;

/** A slot in a repository's announcement queue, reserved before its pushes are known. */
export interface AnnouncementSlot {
  announce(pushId: string): Promise<void>;
  /** Releases the slot for later pushes. */
  end(): void;
}

/**
 * Notifies push listeners in parallel to the response to the client, so that a failure does not affect the push.
 * Serialises announcements per repository, so that the last push is announced last.
 */
export class PushAnnouncer {
  readonly #deps: RepositoryDeps;
  readonly #journal: PushJournal;
  readonly #listeners: readonly PushListener[];
  /** Queues by repository id. */
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

  /** Resolves when all current pushes of a repository are announced, or at the timeout. */
  async whenAnnounced(repositoryId: string, waitMs: number): Promise<void> {
    await waitAtMost(
      this.#enqueue(repositoryId, async () => {}),
      waitMs,
    );
  }

  /** Reserves a slot in a repository's queue now, for pushes announced later. */
  reserveSlot(repositoryId: string): AnnouncementSlot {
    const { promise, resolve } = Promise.withResolvers<void>();
    void this.#enqueue(repositoryId, () => promise);
    return { announce: (pushId) => this.#announce(pushId, {}), end: resolve };
  }

  /** For a scheduled task: retries pushes that an earlier server parked because it crashed repeatedly. */
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
