import { diffLines } from './line-diff.ts';
import type { DiffLine } from './line-diff.ts';

/** Task of the worker pool: compares two revisions of a text line by line. */
export const run = ({ before, after }: { before: string; after: string }): DiffLine[] => diffLines(before, after);
