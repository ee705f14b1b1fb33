import type { LineRanges } from './line-ranges.ts';
import { loadGrammar } from './load-grammar.ts';
import { splitLines } from './split-lines.ts';

/**
 * Returns lines of HTML; only those of `ranges` where some are given, the others are empty. Runs in the worker pool:
 * grammars are regular expressions, and some input makes one of them backtrack without end.
 */
export async function run({
  grammar,
  text,
  ranges,
}: {
  grammar: string;
  text: string;
  ranges?: LineRanges;
}): Promise<string[]> {
  const hljs = await loadGrammar(grammar);
  const lines = splitLines(hljs.highlight(text, { language: grammar, ignoreIllegals: true }).value);
  if (ranges === undefined) return lines;
  const wanted: string[] = [];
  for (const [first, last] of ranges)
    for (let line = first; line <= last && line <= lines.length; line += 1) {
      while (wanted.length < line - 1) wanted.push('');
      wanted.push(lines[line - 1]!);
    }
  return wanted;
}
