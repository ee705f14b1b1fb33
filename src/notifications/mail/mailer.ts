import type { Tx } from '../../db/index.ts';
import type { Reason } from '../schema/notification-schema.ts';
import type { NotifiedEvent } from '../notified-event.ts';

/** Who gets an event by mail, and why. */
export interface MailRecipient {
  userId: string;
  reason: Reason;
}

/** The way from an event to mails; without mail settings there is none. */
export interface Mailer {
  isOn: boolean;
  /** Inside the write that records the event. */
  enqueue(tx: Tx, event: NotifiedEvent, recipients: readonly MailRecipient[]): Promise<void>;
}

export const noMailer: Mailer = { isOn: false, enqueue: async () => {} };
