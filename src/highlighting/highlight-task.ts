import type { LineRanges } from './line-ranges.ts';
import { highlightLines, loadGrammar } from './load-grammar.ts';

/**
 * Returns lines of HTML; given `ranges`, lines outside of them are empty. Runs in the worker pool: grammars are regular
 * expressions, and some input causes endless backtracking.
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
