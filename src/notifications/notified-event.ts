import type { Reason, Subject } from './schema/notification-schema.ts';

/** An event as people are notified of it, the same for all of them. */
export interface NotifiedEvent {
  subject: Subject;
  repositoryId: string;
  issueId: string | null;
  /** Where a reader begins, and the position that orders events of the subject. */
  firstPosition: number;
  lastPosition: number;
  /** JSON; see `NotificationRow`. */
  details: string;
  context: string;
}

/** A person whom an event concerns, and the channels by which they are notified of it. */
export interface Recipient {
  userId: string;
  reason: Reason;
  inbox: boolean;
  mail: boolean;
  feed: boolean;
}

/** A part of an event that waits to be announced. */
export type Batch =
  | { kind: 'told'; event: NotifiedEvent; recipients: readonly Recipient[] }
  /** The end of a run: its recipients are looked up when it is announced. */
  | { kind: 'run-failed'; event: NotifiedEvent; actorId: string | null }
  /** A release: the same. */
  | { kind: 'released'; event: NotifiedEvent; actorId: string | null }
  /** A deployment that waits for reviewers: the same. */
  | { kind: 'deployment-waits'; event: NotifiedEvent; run: number; environment: string }
  /** Nobody has to look at it any more. */
  | { kind: 'run-succeeded' | 'deployment-settled'; subject: Subject; context: string; position: number };
