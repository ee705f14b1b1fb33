import { createKeyedMutex, waitAtMost } from '../../kernel/index.ts';
import type { RepositoryDeps } from '../deps.ts';
import { notifyListeners } from './notify-listeners.ts';
import type { AnnounceOptions, PushListener } from './notify-listeners.ts';
import type { PushJournal } from './push-journal.ts';

/**
 * How long a stop waits for announcements. A listener that hangs must not hold the server;
 * what is not told by then is begun again at the next start.
 */
const stopTimeoutMs = 10_000;

/** The turn of one repository, taken before its pushes are known. */
export interface AnnouncementTurn {
  announce(pushId: string): Promise<void>;
  /** Lets pushes that came later have theirs. */
  end(): void;
}

/**
 * Tells listeners of pushes beside the answer to the client: whatever happens here is not
 * the pusher's trouble. Pushes to one repository are told of in turn, so that the last of
 * them has the last word.
 */
export class PushAnnouncer {
  readonly #deps: RepositoryDeps;
  readonly #journal: PushJournal;
  readonly #listeners: readonly PushListener[];
  /** By repository. */
  readonly #inTurn = createKeyedMutex();

  constructor(deps: RepositoryDeps, journal: PushJournal, listeners: readonly PushListener[]) {
    this.#deps = deps;
    this.#journal = journal;
    this.#listeners = listeners;
  }

  announce(pushId: string, repositoryId: string, options: AnnounceOptions = {}): Promise<void> {
    return this.#inTurn(repositoryId, () => this.#tell(pushId, options));
  }

  /** Takes the turn of a repository now, for pushes that are told of later. */
  takeTurn(repositoryId: string): AnnouncementTurn {
    const { promise, resolve } = Promise.withResolvers<void>();
    void this.#inTurn(repositoryId, () => promise);
    return { announce: (pushId) => this.#tell(pushId, {}), end: resolve };
  }

  async stop(): Promise<void> {
    await waitAtMost(this.#inTurn.settled(), stopTimeoutMs);
    const repositories = this.#inTurn.held();
    if (repositories > 0) this.#deps.logger.warn('push.announcements_left', { repositories });
  }

  #tell(pushId: string, options: AnnounceOptions): Promise<void> {
    return notifyListeners(this.#deps, this.#journal, this.#listeners, pushId, options).catch((error: unknown) =>
      this.#deps.logger.error('push.announce_failed', { pushId, error }),
    );
  }
}
