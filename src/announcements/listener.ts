import type { Tx } from '../db/index.ts';

/**
 * A subscriber to events of one kind (pushes, entries of issues). `prepare` may be slow (git, files) and may run again;
 * `record` runs inside the write that also marks this listener as done, so an event is recorded exactly once per
 * listener, even after a crash. A failed write is retried with the result of a new `prepare`. Each of the three has a
 * time limit, after which it counts as failed; a listener that has failed three times with an event is not called for
 * it again, and the event is parked until a person retries it. The end of the server is not a failure.
 */
export interface Listener<Event, Prepared = unknown> {
  /** Stable; stored in the database. */
  name: string;
  /** Whether a client waits for what this listener records: it is written before the next listeners are called. */
  isAwaited?: boolean;
  /** Null when there is nothing to record; the listener is then done with the event. */
  prepare?(event: Event): Promise<Prepared | null>;
  record?(tx: Tx, event: Event, prepared: Prepared): Promise<void>;
  /** Called once that write is durable: the moment to notify waiters. The next listener is called after it. */
  recorded?(event: Event, prepared: Prepared): unknown;
}
