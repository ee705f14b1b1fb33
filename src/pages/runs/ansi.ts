/** A segment of a line in one style. */
export interface Segment {
  text: string;
  /** Class names, or null for plain text. */
  style: string | null;
}

const colours = ['black', 'red', 'green', 'yellow', 'blue', 'magenta', 'cyan', 'white'];

/** CSI sequences, OSC sequences with their text, and other escapes; all but colours are removed. */
// eslint-disable-next-line no-control-regex
const escapes = /\u001b(?:\[([0-9;:]*)[ -/]*([@-~])|\][^\u0007\u001b]*(?:\u0007|\u001b\\)?|[@-Z\\^_]|[ -/]+[0-~])?/g;

/** Control characters; tabs stay. Direction-changing characters become a mark. */
const acting = /[\u0000-\u0008\u000a-\u001a\u001c-\u001f\u007f-\u009f]/g;
const bidiControls = /[\u200e\u200f\u202a-\u202e\u2066-\u2069]/g;

interface Style {
  bold: boolean;
  dim: boolean;
  italic: boolean;
  underline: boolean;
  inverse: boolean;
  struck: boolean;
  /** A name of the sixteen colours, or three hexadecimal digits. */
  fore: string | null;
  back: string | null;
}

const plain: Style = {
  bold: false,
  dim: false,
  italic: false,
  underline: false,
  inverse: false,
  struck: false,
  fore: null,
  back: null,
};

/**
 * Splits a terminal line into segments with classes for colours and styles. For a line that overwrote itself (`\r`, as
 * progress bars do) only the final content is shown. Sequences that move the cursor, create links or set a title are
 * removed.
 */
export function parseAnsi(line: string): Segment[] {
  const segments: Segment[] = [];
  let style = plain;
  let at = 0;
  const last = lastState(line);
  const add = (text: string): void => {
    const shown = text.replace(acting, '').replace(bidiControls, '\ufffd');
    if (shown !== '') segments.push({ text: shown, style: classesOf(style) });
  };
  for (const found of last.matchAll(escapes)) {
    add(last.slice(at, found.index));
    at = found.index + found[0].length;
    if (found[2] === 'm') style = applyCodes(style, found[1] ?? '');
  }
  add(last.slice(at));
  return segments;
}

/** The text after the last carriage return that is followed by any; earlier text may have set its colours. */
function lastState(line: string): string {
  // Not a regular expression: `\r+$` takes quadratic time on many carriage returns before other text.
  let end = line.length;
  while (end > 0 && line[end - 1] === '\r') end -= 1;
  const text = line.slice(0, end);
  const start = text.lastIndexOf('\r') + 1;
  if (start === 0) return text;
  const before = text.slice(0, start).match(escapes) ?? [];
  return before.join('') + text.slice(start);
}

const attributes: Readonly<Record<number, Partial<Style>>> = {
  0: plain,
  1: { bold: true },
  2: { dim: true },
  3: { italic: true },
  4: { underline: true },
  7: { inverse: true },
  9: { struck: true },
  22: { bold: false, dim: false },
  23: { italic: false },
  24: { underline: false },
  27: { inverse: false },
  29: { struck: false },
  39: { fore: null },
  49: { back: null },
};

function applyCodes(before: Style, text: string): Style {
  let style = before;
  const codes = text === '' ? [0] : text.split(/[;:]/).map(Number);
  for (let at = 0; at < codes.length; at += 1) {
    const code = codes[at]!;
    if (code === 38 || code === 48) {
      // 5;n selects one of 256 colours, 2;r;g;b any colour.
      const isIndexed = codes[at + 1] === 5;
      const colour = isIndexed ? indexedColour(codes[at + 2] ?? 0) : trueColour(codes.slice(at + 2, at + 5));
      style = { ...style, [code === 38 ? 'fore' : 'back']: colour };
      at += isIndexed ? 2 : 4;
    } else {
      style = { ...style, ...(attributes[code] ?? namedColour(code)) };
    }
  }
  return style;
}

function namedColour(code: number): Partial<Style> {
  if (code >= 30 && code <= 37) return { fore: colourName(code - 30) };
  if (code >= 90 && code <= 97) return { fore: colourName(code - 90) };
  if (code >= 40 && code <= 47) return { back: colourName(code - 40) };
  if (code >= 100 && code <= 107) return { back: colourName(code - 100) };
  return {};
}

const colourName = (index: number): string => colours[index % 8]!;

/** The palette of xterm: sixteen names, a cube of 6×6×6, and 24 greys. */
function indexedColour(index: number): string | null {
  if (!(index >= 0 && index <= 255)) return null;
  if (index < 16) return colourName(index);
  if (index >= 232) return trueColour(Array<number>(3).fill(8 + (index - 232) * 10));
  const level = (digit: number): number => (digit === 0 ? 0 : 55 + digit * 40);
  return trueColour([36, 6, 1].map((weight) => level(Math.floor((index - 16) / weight) % 6)));
}

/** Sixteen levels of each: pages have no inline styles, so each level is a class (`runs.css`). */
function trueColour(parts: readonly number[]): string | null {
  if (parts.length < 3 || parts.some((part) => !(part >= 0 && part <= 255))) return null;
  return parts.map((part) => Math.round(part / 17).toString(16)).join('');
}

function classesOf({ bold, dim, italic, underline, inverse, struck, fore, back }: Style): string | null {
  const [front, behind] = inverse ? [back ?? 'paper', fore ?? 'ink'] : [fore, back];
  const names = [
    bold && 'a-bold',
    dim && 'a-dim',
    italic && 'a-italic',
    underline && 'a-underline',
    struck && 'a-struck',
    ...(front === null ? [] : colourClasses(front, 'a-', 'a-f')),
    ...(behind === null ? [] : colourClasses(behind, 'a-on-', 'a-b')),
  ].filter(Boolean);
  return names.length === 0 ? null : names.join(' ');
}

function colourClasses(colour: string, named: string, mixed: string): string[] {
  if (!/^[0-9a-f]{3}$/.test(colour)) return [`${named}${colour}`];
  return [mixed, ...[...colour].map((digit, at) => `${mixed}${'rgb'[at]}${digit}`)];
}
