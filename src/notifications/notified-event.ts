import type { Reason, Subject } from './schema/notification-schema.ts';

/** An event of a notification, identical for all recipients. */
export interface NotifiedEvent {
  subject: Subject;
  repositoryId: string;
  issueId: string | null;
  /** The first unread position, which also orders events of the subject. */
  firstPosition: number;
  lastPosition: number;
  /** JSON; see `NotificationRow`. */
  details: string;
  context: string;
}

/** A user concerned by an event, and the channels that notify them. */
export interface Recipient {
  userId: string;
  reason: Reason;
  inbox: boolean;
  mail: boolean;
  feed: boolean;
}

/** A pending part of an event. */
export type Batch =
  | { kind: 'told'; event: NotifiedEvent; recipients: readonly Recipient[] }
  /** A finished run: its recipients are looked up when it is announced. */
  | { kind: 'run-failed'; event: NotifiedEvent; actorId: string | null }
  /** A release: the same. */
  | { kind: 'released'; event: NotifiedEvent; actorId: string | null }
  /** A deployment that waits for reviewers: the same. */
  | { kind: 'deployment-waits'; event: NotifiedEvent; run: number; environment: string }
  /** Nobody needs to act on it any more. */
  | { kind: 'run-succeeded' | 'deployment-settled'; subject: Subject; context: string; position: number };
