/**
 * Patterns of branch and tag names, as forges use them in rules: `*` matches anything but a slash, `**` anything, `?`
 * one character but a slash, `[abc]` and `[a-z]` one of these, `[!a]` any other, `{a,b}` one of the alternatives.
 * Patterns and ref names are both user input, so neither becomes a regular expression: the matcher simulates all states
 * at once, in time (length of pattern × length of name).
 */
interface Token {
  accepts(character: string): boolean;
  /** Matches nothing, one, or many. */
  repeats: boolean;
}

/** Maximum length of a pattern, in characters; usual branch names are shorter. */
export const maxPatternLength = 200;
/** Maximum number of plain patterns to which `{a,b}` may expand. */
const maxAlternatives = 32;

/** A compiled pattern. */
export interface RefPattern {
  /** Whether the pattern is a plain name, which matches only itself. */
  isExact: boolean;
  /** Whether the whole name matches; calls `onStep` with the number of steps taken. */
  matches(name: string, onSteps?: (steps: number) => void): boolean;
}

/** Why a text is not a valid pattern. */
export type PatternFault = 'empty' | 'too_long' | 'characters' | 'alternatives';

const special = /[*?[\]{}]/;

/**
 * Parses a pattern; returns the reason if it is invalid: `alternatives` for braces that are unclosed, nested or expand
 * too far.
 */
export function readRefPattern(text: string): RefPattern | PatternFault {
  if (text === '') return 'empty';
  if (text.length > maxPatternLength) return 'too_long';
  // Characters that no ref name contains, except for pattern characters.
  if (/[\x00-\x20\x7f~^:\\]|\.\.|@\{|\/\/|^\/|\/$/.test(text) || !text.isWellFormed()) return 'characters';
  if (!special.test(text)) return { isExact: true, matches: (name) => name === text };
  const plain = alternatives(text);
  if (plain === null) return 'alternatives';
  const compiled = plain.map((each) => ({ prefix: /^[^*?[]*/.exec(each)![0], tokens: tokensOf(each) }));
  return {
    isExact: false,
    matches(name, onSteps = () => undefined) {
      for (const { prefix, tokens } of compiled) {
        onSteps(1);
        if (name.startsWith(prefix) && accepts(tokens, name, onSteps)) return true;
      }
      return false;
    },
  };
}

/** Expands a pattern with `{a,b}` to plain patterns. */
function alternatives(text: string): string[] | null {
  let made = [''];
  for (let at = 0; at < text.length; ) {
    const open = text.indexOf('{', at);
    const rest = open === -1 ? text.slice(at) : text.slice(at, open);
    if (rest.includes('}')) return null;
    made = made.map((each) => each + rest);
    if (open === -1) return made;
    const close = text.indexOf('}', open);
    const inside = text.slice(open + 1, close);
    if (close === -1 || inside.includes('{')) return null;
    const choices = inside.split(',');
    if (made.length * choices.length > maxAlternatives) return null;
    made = made.flatMap((each) => choices.map((choice) => each + choice));
    at = close + 1;
  }
  return made;
}

function accepts(tokens: readonly Token[], name: string, onSteps: (steps: number) => void): boolean {
  let places = withSkipped(tokens, new Set([0]));
  for (const character of name) {
    onSteps(places.size);
    const next = new Set<number>();
    for (const place of places) {
      const token = tokens[place];
      if (token?.accepts(character)) next.add(token.repeats ? place : place + 1);
    }
    if (next.size === 0) return false;
    places = withSkipped(tokens, next);
  }
  return places.has(tokens.length);
}

/** Adds the states that can be reached without reading a character. */
function withSkipped(tokens: readonly Token[], places: Set<number>): Set<number> {
  for (const place of places) if (tokens[place]?.repeats) places.add(place + 1);
  return places;
}

const anything = (): boolean => true;
const anythingButSlash = (character: string): boolean => character !== '/';

function tokensOf(pattern: string): Token[] {
  const tokens: Token[] = [];
  const characters = [...pattern];
  for (let at = 0; at < characters.length; at += 1) {
    const character = characters[at]!;
    if (character === '*') {
      const isDouble = characters[at + 1] === '*';
      while (characters[at + 1] === '*') at += 1;
      tokens.push({ accepts: isDouble ? anything : anythingButSlash, repeats: true });
    } else if (character === '?') {
      tokens.push({ accepts: anythingButSlash, repeats: false });
    } else if (character === '[' && characters.includes(']', at + 2)) {
      const end = characters.indexOf(']', at + 2);
      tokens.push({ accepts: readClass(characters.slice(at + 1, end)), repeats: false });
      at = end;
    } else {
      tokens.push({ accepts: (other) => other === character, repeats: false });
    }
  }
  return tokens;
}

/** `abc`, `a-z`, and a leading `!` for any other. */
function readClass(characters: readonly string[]): Token['accepts'] {
  const isOther = characters[0] === '!';
  const ranges: [from: string, to: string][] = [];
  for (let at = isOther ? 1 : 0; at < characters.length; at += 1) {
    const from = characters[at]!;
    const isRange = characters[at + 1] === '-' && at + 2 < characters.length;
    ranges.push([from, isRange ? characters[at + 2]! : from]);
    if (isRange) at += 2;
  }
  return (character) =>
    character !== '/' && ranges.some(([from, to]) => from <= character && character <= to) !== isOther;
}
