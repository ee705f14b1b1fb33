import hljs from 'highlight.js';
import { splitLines } from './split-lines.ts';

// A class for each kind of token, without a prefix of the library's own: the stylesheet names them.
hljs.configure({ classPrefix: 'x-' });

/** Lines of HTML. Runs in the worker pool: grammars are made of regular expressions, and somebody's file may make one of them run for ever. */
export function run({ grammar, text }: { grammar: string; text: string }): string[] {
  return splitLines(hljs.highlight(text, { language: grammar, ignoreIllegals: true }).value);
}
