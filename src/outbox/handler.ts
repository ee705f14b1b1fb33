import type { Tx } from '../db/index.ts';
import type { Outcome } from './message-state.ts';
import type { MessageRow } from './schema/outbox-schema.ts';

/** A message as passed to its handler. */
export type Message = Pick<MessageRow, 'id' | 'key' | 'payload' | 'attempts' | 'createdAt'>;

/** Return value of a handler. */
export interface Handled<Details> {
  outcome: Outcome;
  /** Replaces the payload, for the next attempt and for display. */
  payload?: string;
  /** Passed to `record`. */
  details: Details;
}

/** An attempt that is being recorded. */
export interface Attempt<Details> {
  outcome: Outcome;
  state: MessageRow['state'];
  startedAt: number;
  tookMs: number;
  /** Null if the handler threw or timed out. */
  details: Details | null;
}

/** Handler of the messages of one kind. */
export interface Handler<Details = null> {
  kind: string;
  /** Limit of messages in flight; a key has at most one. */
  slots: number;
  /** Time limit of an attempt in milliseconds, at most five minutes; then it fails and its signal aborts. */
  timeoutMs: number;
  /** Number of attempts before a message is FAILED. */
  maxAttempts: number;
  /** Retention in milliseconds of DELIVERED and FAILED messages. */
  keepMs: number;
  /**
   * Handles a message once. A message may come again after a crash, so a repeat must be harmless or visible to the
   * receiver. An error counts as a failure that may be retried.
   */
  handle(message: Message, signal: AbortSignal): Promise<Handled<Details>>;
  /** Writes additional data of the kind about an attempt, in the write that records it. */
  record?(tx: Tx, message: Message, attempt: Attempt<Details>): Promise<void>;
  /** Called after that write. */
  recorded?(message: Message, attempt: Attempt<Details>): void;
}

/** Counters since the start of the server. */
export interface HandlerMetrics {
  /** Attempts by result: `retry` is a failure that is retried, `failed` a final one. */
  attempts: Record<'delivered' | 'retry' | 'failed', number>;
  /** Total duration of attempts in seconds. */
  attemptSeconds: number;
  attemptsInFlight: number;
}
