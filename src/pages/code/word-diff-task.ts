import { differingWords } from './word-marks.ts';
import type { DifferingWords } from './word-marks.ts';

/**
 * A task of the worker pool: for each pair of lines what `differingWords` says. The work for one pair grows with the
 * square of its words.
 */
export const run = (pairs: readonly (readonly [before: string, after: string])[]): (DifferingWords | null)[] =>
  pairs.map(([before, after]) => differingWords(before, after));
