import { checkedAddress, headerText, headerUrl, listId, messageId, UnusableMail } from './message.ts';
import type { MailMessage } from './message.ts';
import type { UsableSettings } from './settings.ts';

/** Limit of one message, in bytes: text and HTML of ours are some kilobytes, and mail servers take ten times this. */
const maxBytes = 1024 * 1024;

export interface ComposedMail {
  from: string;
  to: string;
  messageId: string;
  raw: Buffer;
}

/**
 * The message of RFC 5322: text and HTML as alternatives, threading headers, and what tells automatic responders to be
 * silent (RFC 3834). Every value that others have chosen is one line before it is a header. Throws `UnusableMail`.
 * @param id unique and the same at every attempt, so that a receiver can detect a repetition
 */
export async function compose(
  { from, baseUrl }: UsableSettings,
  message: MailMessage,
  id: string,
  sentAt: number,
): Promise<ComposedMail> {
  const { default: MailComposer } = await import('nodemailer/lib/mail-composer');
  const to = checkedAddress(message.to);
  const { thread, unsubscribeUrl } = message;
  const ownId = messageId(thread?.messageId ?? `${id}@${new URL(baseUrl).hostname.replace(/[^\w.-]/g, '-')}`);
  const headers: Record<string, string | { prepared: true; value: string }> = {
    'Auto-Submitted': 'auto-generated',
    'X-Auto-Response-Suppress': 'All',
  };
  if (thread !== undefined || unsubscribeUrl !== undefined) headers['Precedence'] = 'bulk';
  // As it is: RFC 2047 forbids encoded words there, and filters look for the identifier.
  if (thread !== undefined)
    headers['List-Id'] = { prepared: true, value: `${listName(thread.listName)}<${listId(thread.listId)}>` };
  if (unsubscribeUrl !== undefined) {
    headers['List-Unsubscribe'] = { prepared: true, value: `<${headerUrl(unsubscribeUrl)}>` };
    headers['List-Unsubscribe-Post'] = 'List-Unsubscribe=One-Click';
  }
  const inReplyTo = thread?.inReplyTo === undefined ? undefined : messageId(thread.inReplyTo);
  const composer = new MailComposer({
    from: { name: senderName(from.name, message.by), address: from.address },
    to: { address: to },
    subject: headerText(message.subject),
    messageId: ownId,
    date: new Date(sentAt),
    ...(inReplyTo === undefined ? {} : { inReplyTo, references: inReplyTo }),
    headers,
    text: plain(message.text),
    html: message.html,
    disableFileAccess: true,
    disableUrlAccess: true,
    newline: 'win',
    // Derived from the id: the same message is the same bytes at every attempt.
    baseBoundary: id,
  });
  const raw = await composer.compile().build();
  if (raw.length > maxBytes) throw new UnusableMail(`It is larger than ${maxBytes} bytes.`);
  return { from: from.address, to, messageId: ownId, raw };
}

/** `alice (Hearth)`: lists of mails show who wrote, and still that the server sent it. */
function senderName(server: string | null, by?: string): string {
  if (by === undefined) return server ?? '';
  return headerText(server === null ? by : `${by} (${server})`);
}

/** Quoted, with the characters removed that would end the quotation. */
function listName(text: string): string {
  const name = headerText(text).replace(/["\\<>]/g, '');
  return /^[\x20-\x7e]+$/.test(name) ? `"${name}" ` : '';
}

/** Text without controls other than line breaks and tabs. */
const plain = (text: string): string => text.replace(/\r\n?/g, '\n').replace(/[^\P{Cc}\n\t]/gu, '');
