/** A mail as its kind renders it; `compose` makes the message of RFC 5322 from it. */
export interface MailMessage {
  /** One bare address. */
  to: string;
  subject: string;
  text: string;
  html: string;
  /** Name of the user whose words the mail has, shown as its sender; the name of the settings otherwise. */
  by?: string;
  /** For mails that belong together; the ids with or without angle brackets. */
  thread?: MailThread;
  /** Unsubscribes by one POST without signing in (RFC 8058); a GET shows a page that asks. */
  unsubscribeUrl?: string;
}

interface MailThread {
  messageId: string;
  inReplyTo?: string;
  /** Identifier of the list, in the form of a domain: `repository.owner.git.example.org` (RFC 2919). */
  listId: string;
  listName: string;
}

/** Why a mail is never sent, whatever the mail server says. */
export class UnusableMail extends Error {}

/** Longest subject, in characters; a title may be longer. */
const maxSubject = 200;

/** Control and format characters: line breaks would end a header, the others change how a text looks. */
const unprintable = /[\p{Cc}\p{Cf}\p{Co}\p{Cs}\p{Zl}\p{Zp}]+/gu;

/** Joins emoji; shown as nothing by itself. */
const joiner = '\u200d';

/** One line of text for a header: without controls and marks of writing direction, not longer than a subject. */
export function headerText(text: string): string {
  const line = text
    .replace(unprintable, (found) => (found === joiner ? joiner : ' '))
    .replace(/\s+/g, ' ')
    .trim();
  const characters = [...line];
  return characters.length <= maxSubject ? line : `${characters.slice(0, maxSubject - 1).join('')}…`;
}

/** Refuses everything but one plain address: no name, no list, no comment, no quoting. */
export function checkedAddress(text: string): string {
  const ok = /^[^\s<>()[\]\\,;:"@\p{Cc}\p{Cf}]{1,64}@[^\s<>()[\]\\,;:"@\p{Cc}\p{Cf}]{1,255}$/u.test(text);
  if (!ok) throw new UnusableMail('The address cannot be written to.');
  return text;
}

/** A msg-id of RFC 5322 in angle brackets. */
export function messageId(text: string): string {
  const [, id] = /^<?([\w.!#$%&'*+/=?^`{|}~-]{1,150}@[\w.-]{1,253})>?$/.exec(text) ?? [];
  if (id === undefined) throw new UnusableMail('Its Message-ID is not one.');
  return `<${id}>`;
}

/** A list identifier: letters, digits, hyphens and dots. */
export function listId(text: string): string {
  const id = text
    .replace(/[^A-Za-z0-9.-]+/g, '-')
    .replace(/\.{2,}/g, '.')
    .replace(/^[.-]+|[.-]+$/g, '');
  if (id === '' || id.length > 255) throw new UnusableMail('Its List-Id is not one.');
  return id;
}

/** An http or https URL for a header, percent-encoded. */
export function headerUrl(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : null;
  if (url === null || !/^https?:$/.test(url.protocol) || url.href.length > 1_500)
    throw new UnusableMail('Its link to unsubscribe is not one.');
  return url.href;
}
