import type { Tx } from '../db/index.ts';
import type { Mail } from '../mail/index.ts';
import type { NotifiedEvent } from './notified-event.ts';
import type { Reason } from './schema/notification-schema.ts';

/** Recipient of an event by mail, and the reason. */
export interface MailRecipient {
  userId: string;
  reason: Reason;
}

/** The functions of `mail` that this module uses. */
export type MailPort = Pick<Mail, 'isConfigured' | 'define' | 'enqueue'>;

/** Turns events into mails; absent without mail settings. */
export interface Mailer {
  isOn: boolean;
  /** Runs inside the transaction that records the event. */
  enqueue(tx: Tx, event: NotifiedEvent, recipients: readonly MailRecipient[]): Promise<void>;
}

export const noMailer: Mailer = { isOn: false, enqueue: async () => {} };

/** Mail kinds, and the data from which each is rendered. */
export const subjectMail = 'notification';
export interface SubjectMailData {
  userId: string;
  subject: string;
  dueAt: number;
}
export const digestMail = 'notification-digest';
export interface DigestMailData {
  userId: string;
  dueAt: number;
}
