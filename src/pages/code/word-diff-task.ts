import { diffWords } from './word-diff.ts';
import type { WordDiff } from './word-diff.ts';

/**
 * Task of the worker pool: runs `diffWords` for each pair of lines. The work for one pair grows with the square of its
 * words.
 */
export const run = (pairs: readonly (readonly [before: string, after: string])[]): (WordDiff | null)[] =>
  pairs.map(([before, after]) => diffWords(before, after));
