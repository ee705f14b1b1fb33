import type { Tx } from '../../db/index.ts';
import type { Mail } from '../../mail/index.ts';
import type { NotifiedEvent } from '../notified-event.ts';
import type { Reason } from '../schema/notification-schema.ts';

/** Who gets an event by mail, and why. */
export interface MailRecipient {
  userId: string;
  reason: Reason;
}

/** The part of `mail` that this module works with. */
export type MailPort = Pick<Mail, 'isConfigured' | 'define' | 'enqueue'>;

/** The way from an event to mails; without mail settings there is none. */
export interface Mailer {
  isOn: boolean;
  /** Inside the write that records the event. */
  enqueue(tx: Tx, event: NotifiedEvent, recipients: readonly MailRecipient[]): Promise<void>;
}

export const noMailer: Mailer = { isOn: false, enqueue: async () => {} };

/** Kinds of mails, and what each is rendered from. */
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
