/**
 * Patterns of `branches`, `tags` and `paths` filters: `*` matches anything except a slash, `**` anything; `?` and `+`
 * repeat the preceding character at most once or at least once; `[abc]` matches one of these; `\` escapes. A `**` with
 * its slash may match no folder at all. Anyone with write access writes these patterns and the matched names, so they
 * are not converted to regular expressions: the matcher simulates all states at once, in time (length of pattern ×
 * length of text), and the cost per workflow is limited.
 */
interface Token {
  accepts(character: string): boolean;
  /** Whether it may match nothing. */
  optional: boolean;
  /** Whether it may match repeatedly. */
  repeats: boolean;
  /** Number of tokens from here on that may be skipped together. */
  group: number;
}

const nothing = (): boolean => false;
const anything = (): boolean => true;
const anythingButSlash = (character: string): boolean => character !== '/';

/** Step limit for the filters of one workflow: less than a second. */
const maxSteps = 5_000_000;

export class TooManySteps extends Error {}

/** Matches names against patterns; one per workflow, because it counts its steps. */
export class GlobMatcher {
  readonly #maxSteps: number;
  #steps = 0;
  readonly #read = new Map<string, Token[]>();

  constructor(limit = maxSteps) {
    this.#maxSteps = limit;
  }

  /** Whether the whole text matches the pattern. Throws `TooManySteps`. */
  matches(pattern: string, text: string): boolean {
    const tokens = this.#tokensOf(pattern);
    let places = withSkipped(tokens, new Set([0]));
    for (const character of text) {
      const next = new Set<number>();
      this.#steps += places.size;
      if (this.#steps > this.#maxSteps) throw new TooManySteps('The filters cost too much to evaluate.');
      for (const place of places) {
        const token = tokens[place];
        if (token === undefined || !token.accepts(character)) continue;
        next.add(place + 1);
        if (token.repeats) next.add(place);
      }
      if (next.size === 0) return false;
      places = withSkipped(tokens, next);
    }
    return places.has(tokens.length);
  }

  /** Whether a filter list accepts a name. The last matching pattern decides; a leading `!` excludes the name. */
  allows(patterns: readonly string[], name: string): boolean {
    let isIn = false;
    for (const pattern of patterns) {
      if (pattern.startsWith('!')) isIn &&= !this.matches(pattern.slice(1), name);
      else isIn ||= this.matches(pattern, name);
    }
    return isIn;
  }

  #tokensOf(pattern: string): Token[] {
    let tokens = this.#read.get(pattern);
    if (tokens === undefined) this.#read.set(pattern, (tokens = readTokens(pattern)));
    return tokens;
  }
}

/** Adds the states that are reachable without reading a character. */
function withSkipped(tokens: readonly Token[], places: Set<number>): Set<number> {
  for (const place of places) {
    const token = tokens[place];
    if (token?.optional) places.add(place + 1);
    if (token !== undefined && token.group > 0) places.add(place + token.group);
  }
  return places;
}

function readTokens(pattern: string): Token[] {
  const tokens: Token[] = [];
  const characters = [...pattern];
  for (let at = 0; at < characters.length; at += 1) {
    const character = characters[at]!;
    const last = tokens.at(-1);
    if (character === '*') {
      const isDouble = characters[at + 1] === '*';
      const startsSegment = at === 0 || characters[at - 1] === '/';
      if (isDouble) at += 1;
      // A state before `**` and its slash skips both.
      if (isDouble && startsSegment && characters[at + 1] === '/')
        tokens.push({ accepts: nothing, optional: true, repeats: false, group: 3 });
      tokens.push({ accepts: isDouble ? anything : anythingButSlash, optional: true, repeats: true, group: 0 });
    } else if (character === '?' && last !== undefined) {
      last.optional = true;
    } else if (character === '+' && last !== undefined) {
      last.repeats = true;
    } else if (character === '[' && characters.includes(']', at + 2)) {
      const end = characters.indexOf(']', at + 2);
      tokens.push({ accepts: readClass(characters.slice(at + 1, end)), optional: false, repeats: false, group: 0 });
      at = end;
    } else {
      const literal = character === '\\' && at + 1 < characters.length ? characters[(at += 1)]! : character;
      tokens.push({ accepts: (other) => other === literal, optional: false, repeats: false, group: 0 });
    }
  }
  return tokens;
}

/** `abc`, `a-z`, and both. */
function readClass(characters: readonly string[]): Token['accepts'] {
  const ranges: [from: string, to: string][] = [];
  for (let at = 0; at < characters.length; at += 1) {
    const from = characters[at]!;
    const isRange = characters[at + 1] === '-' && at + 2 < characters.length;
    ranges.push([from, isRange ? characters[at + 2]! : from]);
    if (isRange) at += 2;
  }
  return (character) => ranges.some(([from, to]) => from <= character && character <= to);
}
