import type { Emitter } from 'highlight.js';
import type { LineRanges } from './line-ranges.ts';

/** A part of a text in an embedded language: the start of a span, plain text, or the end of a span. */
type Token = { scope: string } | { text: string } | null;

const everyLine: LineRanges = [[1, Infinity]];

/** Stops the library after the last requested line. */
class WrittenEnough extends Error {}

/**
 * Receives the tokens of the library and writes lines of HTML, each well-formed: spans that are open at the end of a
 * line are closed there and reopened in the next one. Builds no tree, and HTML only for requested lines.
 */
export class LineWriter implements Emitter {
  readonly #ranges: LineRanges;
  readonly #lines: string[] = [];
  /** Tags of the open spans. */
  readonly #open: string[] = [];
  #line = 1;
  #range = 0;
  #isWanted = false;
  #html = '';

  /**
   * @param ranges the requested lines, at least one range
   */
  constructor(ranges: LineRanges = everyLine) {
    this.#ranges = ranges;
    this.#begin();
  }

  /** The lines up to the last requested one or the end of the text; lines outside the ranges are empty. */
  get lines(): string[] {
    return this.#lines;
  }

  addText(text: string): void {
    let from = 0;
    for (let end = text.indexOf('\n'); end !== -1; end = text.indexOf('\n', from)) {
      if (this.#isWanted) this.#html += escape(text.slice(from, end));
      from = end + 1;
      this.#end();
      this.#line += 1;
      this.#begin();
    }
    if (this.#isWanted) this.#html += escape(from === 0 ? text : text.slice(from));
  }

  startScope(scope: string): void {
    const tag = tagOf(scope);
    this.#open.push(tag);
    if (this.#isWanted) this.#html += tag;
  }

  endScope(): void {
    if (this.#open.pop() !== undefined && this.#isWanted) this.#html += '</span>';
  }

  /** The library calls these within modes. */
  openNode(scope: string): void {
    this.startScope(scope);
  }

  closeNode(): void {
    this.endScope();
  }

  __addSublanguage(inner: Emitter, language: string): void {
    for (const token of (inner as TokenRecorder).within(language)) {
      if (token === null) this.endScope();
      else if ('text' in token) this.addText(token.text);
      else this.startScope(token.scope);
    }
  }

  finalize(): void {
    while (this.#open.length > 0) this.endScope();
    this.#end();
  }

  toHTML(): string {
    return '';
  }

  #begin(): void {
    while (this.#range < this.#ranges.length && this.#ranges[this.#range]![1] < this.#line) this.#range += 1;
    const range = this.#ranges[this.#range];
    if (range === undefined) throw new WrittenEnough('All wanted lines are written.');
    this.#isWanted = range[0] <= this.#line;
    if (this.#isWanted) this.#html = this.#open.join('');
  }

  #end(): void {
    this.#lines.push(this.#isWanted ? this.#html + '</span>'.repeat(this.#open.length) : '');
  }
}

/** Records the tokens of an embedded language, until it is known whether they are used. */
export class TokenRecorder implements Emitter {
  readonly #tokens: Token[] = [];

  /** The tokens in a span of their language; every span that they open is closed. */
  *within(language: string | undefined): Generator<Token> {
    if (language) yield { scope: `language:${language}` };
    let depth = 0;
    for (const token of this.#tokens) {
      if (token === null && depth === 0) continue;
      if (token === null) depth -= 1;
      else if ('scope' in token) depth += 1;
      yield token;
    }
    for (let open = language ? depth + 1 : depth; open > 0; open -= 1) yield null;
  }

  addText(text: string): void {
    if (text !== '') this.#tokens.push({ text });
  }

  startScope(scope: string): void {
    this.#tokens.push({ scope });
  }

  endScope(): void {
    this.#tokens.push(null);
  }

  openNode(scope: string): void {
    this.startScope(scope);
  }

  closeNode(): void {
    this.endScope();
  }

  __addSublanguage(inner: Emitter, language: string | undefined): void {
    this.#tokens.push(...(inner as TokenRecorder).within(language));
  }

  finalize(): void {}

  toHTML(): string {
    let html = '';
    for (const token of this.within(undefined))
      html += token === null ? '</span>' : 'text' in token ? escape(token.text) : tagOf(token.scope);
    return html;
  }
}

const tags = new Map<string, string>();

/** `title.function` has the classes `x-title` and `function_`, a language the class `language-css`. */
function tagOf(scope: string): string {
  const known = tags.get(scope);
  if (known !== undefined) return known;
  const [first, ...further] = scope.split('.');
  const classes = scope.startsWith('language:')
    ? scope.replace('language:', 'language-')
    : [`x-${first}`, ...further.map((part, at) => part + '_'.repeat(at + 1))].join(' ');
  const tag = `<span class="${classes}">`;
  tags.set(scope, tag);
  return tag;
}

const entities: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#x27;' };

const escape = (text: string): string =>
  /[&<>"']/.test(text) ? text.replace(/[&<>"']/g, (character) => entities[character]!) : text;
