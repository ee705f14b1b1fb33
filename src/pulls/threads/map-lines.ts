import type { LineChange } from '../../git/index.ts';

/** Lines of a later version of a file, from 1 and inclusive. */
interface MappedLines {
  state: 'kept' | 'changed' | 'gone';
  /** The nearest lines if some have changed; null for `gone`. */
  firstLine: number | null;
  lastLine: number | null;
}

/**
 * Maps lines of a file across changes: `kept` if all of them are outside every change, even with other numbers; `gone`
 * if they were removed without replacement; else `changed`.
 * @param changes in the order of the lines
 */
export function mapLines(first: number, last: number, changes: readonly LineChange[]): MappedLines {
  // Number of lines added above the first and the last line.
  let [beforeFirst, beforeLast] = [0, 0];
  let [newFirst, newLast]: [number | null, number | null] = [null, null];
  let touched = false;
  let removed = 0;
  let inserted = 0;
  for (const { oldStart, oldCount, newStart, newCount } of changes) {
    // Added lines come after `oldStart`.
    const from = oldCount === 0 ? oldStart + 1 : oldStart;
    const end = oldCount === 0 ? oldStart : oldStart + oldCount - 1;
    if (end < first) {
      beforeFirst += newCount - oldCount;
      beforeLast += newCount - oldCount;
      continue;
    }
    if (from > last) break;
    touched = true;
    removed += Math.max(0, Math.min(end, last) - Math.max(from, first) + 1);
    inserted += newCount;
    const isRemoval = newCount === 0;
    if (from <= first && first <= end) newFirst = isRemoval ? newStart + 1 : newStart;
    if (from <= last && last <= end) newLast = isRemoval ? newStart : newStart + newCount - 1;
    else beforeLast += newCount - oldCount;
  }
  if (!touched) return { state: 'kept', firstLine: first + beforeFirst, lastLine: last + beforeFirst };
  if (removed > last - first && inserted === 0) return { state: 'gone', firstLine: null, lastLine: null };
  const firstLine = Math.max(1, newFirst ?? first + beforeFirst);
  return { state: 'changed', firstLine, lastLine: Math.max(firstLine, newLast ?? last + beforeLast) };
}
