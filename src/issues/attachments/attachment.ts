import type { AttachmentRow } from '../schema/classification-schema.ts';

/** A file of an issue as callers see it; times are epoch milliseconds. */
export type Attachment = AttachmentRow;

/** What `<img>` shows; a browser gets everything else as a download. */
export const isShownInline = ({ contentType }: Pick<Attachment, 'contentType'>): boolean =>
  contentType.startsWith('image/');

/** Where an object is. Two characters of the id spread a large store over 256 folders. */
export const objectKey = (id: string): string => `${objectPrefix}${id.slice(0, 2)}/${id}`;
export const objectPrefix = 'attachments/';

/** Characters that no name of a file needs: control characters, direction marks, separators of lines and folders. */
const unwanted = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]/gu;
const maxNameCharacters = 200;

/** The name of a file as a browser gave it, which may be a path; bounded, and never empty. */
export function parseFileName(given: string): string {
  const last = given.split(/[/\\]/).at(-1) ?? '';
  const name = last.toWellFormed().normalize('NFC').replace(unwanted, '').trim();
  const characters = [...name];
  // The end says what kind of file it is.
  const short =
    characters.length <= maxNameCharacters
      ? name
      : [...characters.slice(0, maxNameCharacters - 20), '…', ...characters.slice(-19)].join('');
  return short === '' || /^\.+$/.test(short) ? 'file' : short;
}

/** The stable address of a file, `B/attachments/{id}`. */
export const attachmentPath = ({ owner, name }: { owner: string; name: string }, id: string): string =>
  `/repos/${encodeURIComponent(owner)}/${encodeURIComponent(name)}/attachments/${id}`;

/** What a text says to show a file: an image, or a link with the name of the file. */
export function attachmentMarkdown(attachment: Attachment, repository: { owner: string; name: string }): string {
  const label = attachment.name.replace(/[\\[\]`*_<>]/g, '\\$&');
  return `${isShownInline(attachment) ? '!' : ''}[${label}](${attachmentPath(repository, attachment.id)})`;
}
