import { invalid } from '../kernel/index.ts';

export interface TextRule {
  /** The form field of the error. */
  field: string;
  /** The subject of the error message: "The name". */
  called: string;
  maxCharacters: number;
  /** Allows line feeds and tabs, and removes terminal sequences from copied output. */
  manyLines?: boolean;
}

const controls = /\p{Cc}/u;
const controlsButLines = /[^\P{Cc}\n\t]/u;
/** Characters that override the direction of the text around them, including adjacent page content. */
const directionOverrides = /[\u202a-\u202e\u2066-\u2069]/;
const lineSeparators = /[\u2028\u2029]/;
/**
 * Terminal residue in copied output: escape sequences (ECMA-48 CSI and OSC) and single controls. Not NUL, which copied
 * text never contains.
 */
const terminalOutput =
  /\u001b\[[0-?]*[ -/]*[@-~]|\u001b\][^\u0007\u001b\n]*(?:\u0007|\u001b\\)|[\u0001-\u0008\u000b-\u001f\u007f-\u009f]/g;

/**
 * Validates a text that people write and others see, and returns it trimmed and in NFC (security J09).
 *
 * Throws `invalid`: `invalid_text` (not a text, unpaired surrogates, control characters, characters that reorder a
 * line), `text_too_long`.
 */
export function parseText(value: unknown, rule: TextRule): string {
  const { field, called } = rule;
  const refuse = (problem: string) => invalid('invalid_text', `${called} ${problem}.`, { field });
  if (typeof value !== 'string') throw refuse('must be a text');
  // Checked before normalising; NFC shortens text by less than this factor.
  if (value.length > 4 * rule.maxCharacters) throw tooLong(rule);
  if (!value.isWellFormed()) throw refuse('contains a broken character');
  const lines = value.replace(/\r\n?/g, '\n');
  const text = (rule.manyLines === true ? lines.replace(terminalOutput, '') : lines).normalize('NFC').trim();
  if ((rule.manyLines === true ? controlsButLines : controls).test(text))
    throw refuse('may not contain control characters');
  if (directionOverrides.test(text) || lineSeparators.test(text)) {
    throw refuse('may not contain characters that change the order of a line');
  }
  if ([...text].length > rule.maxCharacters) throw tooLong(rule);
  return text;
}

function tooLong({ field, called, maxCharacters }: TextRule) {
  return invalid('text_too_long', `${called} can have at most ${maxCharacters} characters.`, { field });
}

/**
 * Makes text not typed by a person (a browser's name, a key's comment) storable: removes what `parseText` rejects, and
 * truncates the rest.
 */
export function cleanText(value: string, maxCharacters: number): string {
  const start = value
    .slice(0, 4 * maxCharacters)
    .toWellFormed()
    .normalize('NFC');
  const clean = start.replace(/[\p{Cc}\u2028\u2029\u202a-\u202e\u2066-\u2069]+/gu, ' ').trim();
  return [...clean].slice(0, maxCharacters).join('');
}
