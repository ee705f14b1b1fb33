import type { Tx } from '../db/index.ts';
import type { Outcome } from './message-state.ts';
import type { MessageRow } from './schema/outbox-schema.ts';

/** A message as its handler gets it. */
export type Message = Pick<MessageRow, 'id' | 'key' | 'payload' | 'attempts' | 'createdAt'>;

/** What a handler returns. */
export interface Handled<Details> {
  outcome: Outcome;
  /** Replaces the payload, for the next attempt and for those who look at the message. */
  payload?: string;
  /** What `record` gets. */
  details: Details;
}

/** An attempt that is being recorded. */
export interface Attempt<Details> {
  outcome: Outcome;
  state: MessageRow['state'];
  startedAt: number;
  tookMs: number;
  /** Null when the handler threw or took too long. */
  details: Details | null;
}

/** What is done with the messages of one kind. */
export interface Handler<Details = null> {
  kind: string;
  /** Messages in flight at once; of one key it is always one. */
  slots: number;
  /** An attempt that takes longer has failed, and its signal aborts; at most five minutes. */
  timeoutMs: number;
  /** Attempts before a message is FAILED. */
  maxAttempts: number;
  /** How long a message that is DELIVERED or FAILED is retained. */
  keepMs: number;
  /**
   * Does it once. A message may come again after a crash, so doing it twice must be harmless or visible to the
   * receiver. What it throws is a failure that may be retried.
   */
  handle(message: Message, signal: AbortSignal): Promise<Handled<Details>>;
  /** Writes what the kind itself keeps of an attempt, in the write that records it. */
  record?(tx: Tx, message: Message, attempt: Attempt<Details>): Promise<void>;
  /** After that write. */
  recorded?(message: Message, attempt: Attempt<Details>): void;
}

/** Since the program started. */
export interface HandlerMetrics {
  /** Attempts by result: `retry` is a failure that is tried again, `failed` one that is not. */
  attempts: Record<'delivered' | 'retry' | 'failed', number>;
  /** Time that attempts took, all together, in seconds. */
  attemptSeconds: number;
  attemptsInFlight: number;
}
