import { parseText } from '../accounts/index.ts';
import { invalid } from '../kernel/index.ts';
import { limits } from './limits.ts';

/** Refuses `invalid_text`, `text_too_long`. An empty title means the tag. */
export const parseTitle = (value: unknown): string =>
  parseText(value, { field: 'title', called: 'The title', maxCharacters: limits.titleCharacters });

/** Refuses `invalid_text`, `text_too_long`. */
export function parseNotes(value: unknown): string {
  const rule = { field: 'body', called: 'The text', maxCharacters: limits.bodyBytes, manyLines: true };
  const body = parseText(value, rule);
  if (Buffer.byteLength(body) > limits.bodyBytes)
    throw invalid('text_too_long', `The text can have at most ${limits.bodyBytes / 1024} KiB.`, { field: 'body' });
  return body;
}

/** Controls, direction marks, separators of lines and folders, half characters, and what Windows takes in no name. */
const unwanted = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}/\\:*?"<>|]/u;

/**
 * The name of a file, which is its address, too: it is refused rather than changed. Refuses `invalid_file_name` for
 * names with folders, control characters or direction marks, and for those that are empty, hidden or too long.
 */
export function parseFileName(given: string): string {
  const refuse = (why: string) => invalid('invalid_file_name', `The name of a file ${why}.`, { field: 'files' });
  const name = given.normalize('NFC').trim();
  if (name === '') throw refuse('may not be empty');
  if (!name.isWellFormed() || unwanted.test(name))
    throw refuse('has no slashes, colons, quotes and control characters');
  if (/^\./.test(name) || /\.$/.test(name)) throw refuse('neither begins nor ends with a dot');
  if (Buffer.byteLength(name) > limits.fileNameBytes) throw refuse(`has at most ${limits.fileNameBytes} bytes`);
  return name;
}
