/** A segment of a line in one style. */
export interface Segment {
  text: string;
  /** Class names, or null for plain text. */
  style: string | null;
}

const colours = ['black', 'red', 'green', 'yellow', 'blue', 'magenta', 'cyan', 'white'];

/** CSI sequences, OSC sequences with their text, and other escapes; whatever is no colour is left out. */
// eslint-disable-next-line no-control-regex
const escapes = /\u001b(?:\[([0-9;:]*)[ -/]*([@-~])|\][^\u0007\u001b]*(?:\u0007|\u001b\\)?|[@-Z\\^_]|[ -/]+[0-~])?/g;

/** Characters that act instead of showing something; tabs stay. Those that turn the direction of text become a mark. */
const acting = /[\u0000-\u0008\u000a-\u001a\u001c-\u001f\u007f-\u009f]/g;
const bidiControls = /[\u200e\u200f\u202a-\u202e\u2066-\u2069]/g;

interface Style {
  bold: boolean;
  dim: boolean;
  italic: boolean;
  underline: boolean;
  fore: string | null;
  back: string | null;
}

const plain: Style = { bold: false, dim: false, italic: false, underline: false, fore: null, back: null };

/**
 * Takes a line of a terminal apart into segments with classes for the sixteen colours
 * and four styles. Everything that would move a cursor, name a link or set a title
 * is left out.
 */
export function parseAnsi(line: string): Segment[] {
  const segments: Segment[] = [];
  let style = plain;
  let at = 0;
  const add = (text: string): void => {
    const shown = text.replace(acting, '').replace(bidiControls, '\ufffd');
    if (shown !== '') segments.push({ text: shown, style: classesOf(style) });
  };
  for (const found of line.matchAll(escapes)) {
    add(line.slice(at, found.index));
    at = found.index + found[0].length;
    if (found[2] === 'm') style = applyCodes(style, found[1] ?? '');
  }
  add(line.slice(at));
  return segments;
}

function applyCodes(before: Style, text: string): Style {
  let style = before;
  const codes = text === '' ? [0] : text.split(/[;:]/).map(Number);
  for (let at = 0; at < codes.length; at += 1) {
    const code = codes[at]!;
    if (code === 38 || code === 48) {
      // 5;n names one of 256 colours, 2;r;g;b any: the first sixteen have names here, others keep what was.
      const isIndexed = codes[at + 1] === 5;
      const index = codes[at + 2] ?? 16;
      if (isIndexed && index < 16) style = { ...style, [code === 38 ? 'fore' : 'back']: colourName(index) };
      at += isIndexed ? 2 : 4;
    } else {
      style = applyCode(style, code);
    }
  }
  return style;
}

function applyCode(style: Style, code: number): Style {
  if (code === 0) return plain;
  if (code === 1) return { ...style, bold: true };
  if (code === 2) return { ...style, dim: true };
  if (code === 3) return { ...style, italic: true };
  if (code === 4) return { ...style, underline: true };
  if (code === 22) return { ...style, bold: false, dim: false };
  if (code === 23) return { ...style, italic: false };
  if (code === 24) return { ...style, underline: false };
  if (code === 39) return { ...style, fore: null };
  if (code === 49) return { ...style, back: null };
  if (code >= 30 && code <= 37) return { ...style, fore: colourName(code - 30) };
  if (code >= 90 && code <= 97) return { ...style, fore: colourName(code - 82) };
  if (code >= 40 && code <= 47) return { ...style, back: colourName(code - 40) };
  if (code >= 100 && code <= 107) return { ...style, back: colourName(code - 92) };
  return style;
}

const colourName = (index: number): string => colours[index % 8]!;

function classesOf({ bold, dim, italic, underline, fore, back }: Style): string | null {
  const names = [
    bold && 'a-bold',
    dim && 'a-dim',
    italic && 'a-italic',
    underline && 'a-underline',
    fore !== null && `a-${fore}`,
    back !== null && `a-on-${back}`,
  ].filter(Boolean);
  return names.length === 0 ? null : names.join(' ');
}
