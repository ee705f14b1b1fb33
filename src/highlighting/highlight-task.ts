import type { LineRanges } from './line-ranges.ts';
import { highlightLines, loadGrammar } from './load-grammar.ts';

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
  await loadGrammar(grammar);
  return highlightLines(grammar, text, ranges);
}
