import type { AttachmentRow } from '../schema/classification-schema.ts';

/** A file of an issue as callers see it; times are epoch milliseconds. */
export type Attachment = AttachmentRow;

/** Image types that `<img>` shows; browsers download all others. */
export const isShownInline = ({ contentType }: Pick<Attachment, 'contentType'>): boolean =>
  contentType.startsWith('image/');

/** Path of an object. Two characters of the id spread a large store over 256 folders. */
export const objectKey = (id: string): string => `${objectPrefix}${id.slice(0, 2)}/${id}`;
export const objectPrefix = 'attachments/';

/** Characters that no file name needs: control characters, direction marks, line and folder separators. */
const unwanted = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]/gu;
const maxNameCharacters = 200;

/** Cleans a file name sent by a browser, which may be a path; bounded, and never empty. */
export function parseFileName(given: string): string {
  const last = given.split(/[/\\]/).at(-1) ?? '';
  const name = last.toWellFormed().normalize('NFC').replace(unwanted, '').trim();
  const characters = [...name];
  // Keeps the end, which has the file's extension.
  const short =
    characters.length <= maxNameCharacters
      ? name
      : [...characters.slice(0, maxNameCharacters - 20), '…', ...characters.slice(-19)].join('');
  return short === '' || /^\.+$/.test(short) ? 'file' : short;
}

/** The stable URL of a file, `B/attachments/{id}`. */
export const attachmentPath = ({ owner, name }: { owner: string; name: string }, id: string): string =>
  `/repos/${encodeURIComponent(owner)}/${encodeURIComponent(name)}/attachments/${id}`;

/** Markdown that shows a file: an image, or a link with the file name. */
export function attachmentMarkdown(attachment: Attachment, repository: { owner: string; name: string }): string {
  const label = attachment.name.replace(/[\\[\]`*_<>]/g, '\\$&');
  return `${isShownInline(attachment) ? '!' : ''}[${label}](${attachmentPath(repository, attachment.id)})`;
}
