import type { MarkdownIt, StateBlock, StateInline } from 'markdown-it';
import { partsOf } from './markdown-env.ts';
import { placeholder } from './placeholders.ts';

/** Maximum number of lines in a formula between two lines of `$$`. */
const maxLines = 200;
/** Maximum number of characters of an inline formula. */
const maxLength = 2_000;

/**
 * Formulas in the syntax of other forges: `$x$` and `` $`x`$ `` inline, `$$…$$` as a block. A dollar before a space or
 * after a letter opens no formula, and one after a space or before a letter closes none, so that prices and shell
 * variables stay text.
 */
export function mathSyntax(markdown: MarkdownIt): void {
  markdown.inline.ruler.before('escape', 'formula', inlineFormula);
  markdown.block.ruler.before('fence', 'formula', blockFormula, {
    alt: ['paragraph', 'reference', 'blockquote', 'list'],
  });
}

function inlineFormula(state: StateInline, silent: boolean): boolean {
  const { src, pos } = state;
  if (src[pos] !== '$' || /[\w$\\]/.test(src[pos - 1] ?? '')) return false;
  const isDisplay = src[pos + 1] === '$';
  const start = pos + (isDisplay ? 2 : 1);
  const isTicked = !isDisplay && src[start] === '`';
  const end = nextCloser(state, start + 1, isDisplay ? 'double' : isTicked ? 'ticked' : 'single');
  if (end === null || (!isDisplay && !isTicked && !mayClose(src, end))) return false;
  if (end - start > maxLength || /^\s*$/.test(src[start] ?? '')) return false;
  const tex = isTicked ? src.slice(start + 1, end - 1) : src.slice(start, end);
  if (tex.trim() === '') return false;
  if (!silent) push(state, tex.trim(), isDisplay);
  state.pos = end + (isDisplay ? 2 : 1);
  return true;
}

const mayClose = (src: string, at: number): boolean => /[^\s`]/.test(src[at - 1]!) && !/[\w$]/.test(src[at + 1] ?? '');

function push(state: StateInline, tex: string, isDisplay: boolean): void {
  const { formulas } = partsOf(state.env as object);
  // The text of an image is an attribute, which cannot contain a placeholder: other tokens are omitted there.
  const token = state.push('formula', '', 0);
  formulas.push({ tex, isDisplay });
  token.content = placeholder('formula', formulas.length - 1);
}

type Closer = 'single' | 'double' | 'ticked';
const patterns: Readonly<Record<Closer, RegExp>> = {
  // Only the next dollar can close the formula.
  single: /(?<!\\)\$/g,
  double: /(?<!\\)\$\$(?!\$)/g,
  ticked: /(?<=`)\$(?![\w$])/g,
};

/** The positions of dollars in a text that can close a formula, computed once for each kind. */
const closers = new WeakMap<StateInline, Partial<Record<Closer, { at: number[]; next: number }>>>();

/** The first closing dollar at or after a position; the time of all calls together is linear in the text. */
function nextCloser(state: StateInline, from: number, kind: Closer): number | null {
  const known = closers.get(state) ?? {};
  closers.set(state, known);
  const found = (known[kind] ??= { at: Array.from(state.src.matchAll(patterns[kind]), ({ index }) => index), next: 0 });
  // The parser may go back a little after trying a link.
  while (found.next > 0 && found.at[found.next - 1]! >= from) found.next -= 1;
  while (found.next < found.at.length && found.at[found.next]! < from) found.next += 1;
  return found.at[found.next] ?? null;
}

function blockFormula(state: StateBlock, startLine: number, endLine: number, silent: boolean): boolean {
  if (state.sCount[startLine]! - state.blkIndent >= 4) return false;
  const first = lineAt(state, startLine).trim();
  if (!first.startsWith('$$')) return false;
  const closing = closingLine(state, startLine, endLine, first);
  if (closing === null) return false;
  const lines = [first, ...range(startLine + 1, closing).map((line) => lineAt(state, line))].join('\n').trim();
  const tex = lines.slice(2, -2).trim();
  if (tex === '') return false;
  if (silent) return true;
  const { formulas } = partsOf(state.env as object);
  const token = state.push('html_block', '', 0);
  formulas.push({ tex, isDisplay: true });
  token.content = `<div class="scroll">${placeholder('formula', formulas.length - 1)}</div>\n`;
  token.map = [startLine, closing + 1];
  state.line = closing + 1;
  return true;
}

function closingLine(state: StateBlock, startLine: number, endLine: number, first: string): number | null {
  if (first.length > 4 && first.endsWith('$$')) return startLine;
  if (first.slice(2).includes('$$')) return null;
  const last = Math.min(endLine, startLine + maxLines);
  for (let line = startLine + 1; line < last; line += 1) {
    if (state.sCount[line]! < state.blkIndent) return null;
    const text = lineAt(state, line).trim();
    if (text === '') return null;
    if (text.endsWith('$$')) return line;
  }
  return null;
}

const lineAt = (state: StateBlock, line: number): string =>
  state.src.slice(state.bMarks[line]! + state.tShift[line]!, state.eMarks[line]);

const range = (from: number, to: number): number[] => Array.from({ length: to - from + 1 }, (_, index) => from + index);
