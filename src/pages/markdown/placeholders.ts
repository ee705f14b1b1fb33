/**
 * Placeholders in a rendered document for content inserted after sanitising: highlighted code, formulas, task
 * checkboxes, and text with possible references. A placeholder is between two NUL characters, which no document can
 * contain: the parser replaces them in its source, and the sanitiser decodes no character reference to one.
 */
type PlaceholderKind =
  /** A block of code, by its index. */
  | 'code'
  /** A formula, by its index. */
  | 'formula'
  /** A task checkbox, by its index. */
  | 'task'
  /** A task checkbox in a link, which cannot contain a button. */
  | 'linked-task'
  /** Escaped text outside of links and code, with possible references. */
  | 'text';

const letters: Readonly<Record<PlaceholderKind, string>> = {
  code: 'c',
  formula: 'm',
  task: 't',
  'linked-task': 'l',
  text: 'r',
};
const kinds = new Map(Object.entries(letters).map(([kind, letter]) => [letter, kind as PlaceholderKind]));
const anyMark = /\0([cmtlr])([^\0]*)\0/g;

export const placeholder = (kind: PlaceholderKind, content: number | string): string =>
  `\0${letters[kind]}${content}\0`;

/** Replaces every placeholder, in linear time. */
export const fillPlaceholders = (html: string, fill: (kind: PlaceholderKind, content: string) => string): string =>
  html.replace(anyMark, (_all, letter: string, content: string) => fill(kinds.get(letter)!, content));

/** Splits text at its placeholders: the segments between are at even indexes, whole placeholders at odd ones. */
export const splitAtPlaceholders = (text: string): string[] => text.split(/(\0[^\0]*\0)/);

const entities: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"' };

/** Decodes the escapes of the sanitiser. */
export const unescapeHtml = (text: string): string =>
  text.replace(/&(amp|lt|gt|quot);/g, (_all, name: string) => entities[name]!);

/** Escapes text as the sanitiser does: quotes stay unchanged. */
export const escapeText = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');

export const escapeAttribute = (text: string): string => escapeText(text).replaceAll('"', '&quot;');
