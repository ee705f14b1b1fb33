import { compareTexts } from './text-difference.ts';
import type { DifferenceLine } from './text-difference.ts';

/** A task of the worker pool: two revisions of a text, line by line. */
export const run = ({ before, after }: { before: string; after: string }): DifferenceLine[] =>
  compareTexts(before, after);
