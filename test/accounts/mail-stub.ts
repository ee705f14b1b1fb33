// queuedMail(isConfigured?) → what the module takes for `mail`: `sent` has what was queued, `render(n)` the message as
// it would be sent.
import type { MailMessage } from '../../src/mail/index.ts';
import type { AccountMail } from '../../src/accounts/index.ts';

interface QueuedMail {
  kind: string;
  data: Record<string, string>;
}

export function createMailStub(isConfigured = true) {
  const kinds = new Map<string, (data: never) => Promise<MailMessage | null>>();
  const sent: QueuedMail[] = [];
  const mail: AccountMail = {
    isConfigured,
    define: (kind, render) => void kinds.set(kind, render as (data: never) => Promise<MailMessage | null>),
    async enqueue(_tx, { kind, data }) {
      if (isConfigured) sent.push({ kind, data: data as Record<string, string> });
    },
    wake: () => {},
  };
  return {
    mail,
    sent,
    last: () => sent.at(-1)!,
    render: (message: QueuedMail = sent.at(-1)!) => kinds.get(message.kind)!(message.data as never),
  };
}
