import { parseText } from '../accounts/index.ts';
import { invalid } from '../kernel/index.ts';
import { limits } from './limits.ts';

/** Parses a title; an empty one means the tag. Throws `invalid_text`, `text_too_long`. */
export const parseTitle = (value: unknown): string =>
  parseText(value, { field: 'title', called: 'The title', maxCharacters: limits.titleCharacters });

/** Throws `invalid_text`, `text_too_long`. */
export function parseNotes(value: unknown): string {
  const rule = { field: 'body', called: 'The text', maxCharacters: limits.bodyBytes, manyLines: true };
  const body = parseText(value, rule);
  if (Buffer.byteLength(body) > limits.bodyBytes)
    throw invalid('text_too_long', `The text can be at most ${limits.bodyBytes / 1024} KiB.`, { field: 'body' });
  return body;
}

/**
 * Control characters, direction marks, line separators and folder separators, lone surrogates, and characters that
 * Windows forbids in names.
 */
const unwanted = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}/\\:*?"<>|]/u;

/**
 * Parses a file name, which is also part of its URL, so it is rejected rather than changed. Throws `invalid_file_name`
 * for names with folders, control characters or direction marks, and for empty, hidden or too long ones.
 */
export function parseFileName(given: string): string {
  const refuse = (why: string) => invalid('invalid_file_name', `A file name ${why}.`, { field: 'files' });
  const name = given.normalize('NFC').trim();
  if (name === '') throw refuse('may not be empty');
  if (!name.isWellFormed() || unwanted.test(name))
    throw refuse('has no slashes, colons, quotes and control characters');
  if (/^\./.test(name) || /\.$/.test(name)) throw refuse('neither begins nor ends with a dot');
  if (Buffer.byteLength(name) > limits.fileNameBytes) throw refuse(`has at most ${limits.fileNameBytes} bytes`);
  return name;
}
