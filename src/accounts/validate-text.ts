import { invalid } from '../kernel/index.ts';

export interface TextRule {
  /** The form field that a refusal belongs to. */
  field: string;
  /** How the text is called in a sentence: "The name". */
  called: string;
  maxCharacters: number;
  /** Line feeds and tabs are welcome. */
  manyLines?: boolean;
}

const controls = /\p{Cc}/u;
const controlsButLines = /[^\P{Cc}\n\t]/u;
/** Turn the direction of the text around them, and of whatever a page shows next to it. */
const directionOverrides = /[\u202a-\u202e\u2066-\u2069]/;
const lineSeparators = /[\u2028\u2029]/;

/**
 * Checks a text that people write and others will see, and returns it in NFC
 * without space at its ends (security J09).
 *
 * Refuses with `invalid`: `invalid_text` (not a text, half characters, control
 * characters, characters that reorder a line), `text_too_long`.
 */
export function parseText(value: unknown, rule: TextRule): string {
  const { field, called } = rule;
  const refuse = (problem: string) => invalid('invalid_text', `${called} ${problem}.`, { field });
  if (typeof value !== 'string') throw refuse('must be a text');
  // A bound before the work; NFC shortens what people write and never by more than this.
  if (value.length > 4 * rule.maxCharacters) throw tooLong(rule);
  if (!value.isWellFormed()) throw refuse('contains a broken character');
  const text = value.replace(/\r\n?/g, '\n').normalize('NFC').trim();
  if ((rule.manyLines === true ? controlsButLines : controls).test(text))
    throw refuse('may not contain control characters');
  if (directionOverrides.test(text) || lineSeparators.test(text)) {
    throw refuse('may not contain characters that change the order of a line');
  }
  if ([...text].length > rule.maxCharacters) throw tooLong(rule);
  return text;
}

function tooLong({ field, called, maxCharacters }: TextRule) {
  return invalid('text_too_long', `${called} may have at most ${maxCharacters} characters.`, { field });
}

/**
 * Makes a text that nobody typed (a browser's name, a key's comment) fit to be
 * stored: what `parseText` would refuse is left out, the rest is cut.
 */
export function cleanText(value: string, maxCharacters: number): string {
  const start = value
    .slice(0, 4 * maxCharacters)
    .toWellFormed()
    .normalize('NFC');
  const clean = start.replace(/[\p{Cc}\u2028\u2029\u202a-\u202e\u2066-\u2069]+/gu, ' ').trim();
  return [...clean].slice(0, maxCharacters).join('');
}
