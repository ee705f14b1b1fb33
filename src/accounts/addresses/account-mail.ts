import type { Tx } from '../../db/index.ts';

/** A message as a mail server gets it. */
export interface AccountMailMessage {
  to: string;
  subject: string;
  text: string;
  html: string;
}

/** What this module needs of `mail`: messages that are queued in the write of their cause and rendered when sent. */
export interface AccountMail {
  readonly isConfigured: boolean;
  /** `null` from `render` drops the message: its reason is gone. */
  define<Data>(kind: string, render: (data: Data) => Promise<AccountMailMessage | null>): void;
  enqueue(tx: Tx, message: { kind: string; data: unknown; at?: number; key?: string }): Promise<void>;
}

/** An instance without mail. */
export const noMail: AccountMail = { isConfigured: false, define: () => {}, enqueue: async () => {} };
