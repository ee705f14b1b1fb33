import hljs from 'highlight.js';
import { splitLines } from './split-lines.ts';

// One class per kind of token, without the library's prefix; the stylesheet names them.
hljs.configure({ classPrefix: 'x-' });

/**
 * Returns lines of HTML. Runs in the worker pool: grammars are regular expressions, and some input makes one of them
 * backtrack without end.
 */
export function run({ grammar, text }: { grammar: string; text: string }): string[] {
  return splitLines(hljs.highlight(text, { language: grammar, ignoreIllegals: true }).value);
}
