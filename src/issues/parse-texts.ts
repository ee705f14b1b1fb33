import { parseText } from '../accounts/index.ts';
import { invalid } from '../kernel/index.ts';
import { refuseTooManyAttachments } from './attachment-uses.ts';
import { limits } from './limits.ts';

/** Throws `invalid_text`, `text_too_long`, `title_missing`. */
export function parseTitle(value: unknown): string {
  const title = parseText(value, { field: 'title', called: 'The title', maxCharacters: limits.titleCharacters });
  if (title === '') throw invalid('title_missing', 'Enter a title.', { field: 'title' });
  return title;
}

/** Throws `invalid_text`, `text_too_long`, `too_many_attachments`. Allows an empty text. */
export function parseBody(value: unknown): string {
  const rule = { field: 'body', called: 'The text', maxCharacters: limits.bodyBytes, manyLines: true };
  const body = parseText(value, rule);
  if (Buffer.byteLength(body) > limits.bodyBytes)
    throw invalid('text_too_long', `The text can be at most ${limits.bodyBytes / 1024} KiB.`, { field: 'body' });
  refuseTooManyAttachments(body);
  return body;
}

/** The same for a comment, which must not be empty. Also throws `text_missing`. */
export function parseComment(value: unknown): string {
  const body = parseBody(value);
  if (body === '') throw invalid('text_missing', 'Enter some text.', { field: 'body' });
  return body;
}

/** Normalises label names and milestone titles for comparison. */
export const foldName = (name: string): string => name.toLowerCase();
