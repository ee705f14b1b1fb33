import type { TextRange } from './mark-html.ts';

/** The ranges in which two versions of a line differ. */
export interface WordDiff {
  before: TextRange[];
  after: TextRange[];
}

/** Lines with more words are not compared: the work grows with the square. */
const maxWords = 300;
/** If less than this share is unchanged, marks would only be noise. */
const leastSame = 0.3;

const wordsOf = (text: string): string[] => text.match(/[\p{L}\p{N}_]+|\s+|[^]/gu) ?? [];

/**
 * The ranges in which two versions of a line differ, in whole words; null when they have too little in common, or are
 * too long to compare.
 */
export function diffWords(before: string, after: string): WordDiff | null {
  const [old, next] = [wordsOf(before), wordsOf(after)];
  if (old.length > maxWords || next.length > maxWords) return null;
  let start = 0;
  while (start < old.length && start < next.length && old[start] === next[start]) start += 1;
  let end = 0;
  while (end < old.length - start && end < next.length - start && old.at(-1 - end) === next.at(-1 - end)) end += 1;
  const common = longestCommon(old.slice(start, old.length - end), next.slice(start, next.length - end));
  const isCommon = (index: number, length: number, inside: ReadonlySet<number>) =>
    index < start || index >= length - end || inside.has(index - start);
  const same = old
    .filter((word, index) => isCommon(index, old.length, common.old) && word.trim() !== '')
    .join('').length;
  const most = Math.max(before.replace(/\s/g, '').length, after.replace(/\s/g, '').length);
  if (most === 0 || same / most < leastSame) return null;
  return {
    before: rangesOf(old, (index) => isCommon(index, old.length, common.old)),
    after: rangesOf(next, (index) => isCommon(index, next.length, common.next)),
  };
}

/** The positions in each that belong to their longest common subsequence. */
function longestCommon(old: readonly string[], next: readonly string[]): { old: Set<number>; next: Set<number> } {
  const width = next.length + 1;
  const lengths = new Uint16Array((old.length + 1) * width);
  for (let i = old.length - 1; i >= 0; i -= 1) {
    for (let j = next.length - 1; j >= 0; j -= 1) {
      lengths[i * width + j] =
        old[i] === next[j]
          ? lengths[(i + 1) * width + j + 1]! + 1
          : Math.max(lengths[(i + 1) * width + j]!, lengths[i * width + j + 1]!);
    }
  }
  const common = { old: new Set<number>(), next: new Set<number>() };
  for (let i = 0, j = 0; i < old.length && j < next.length; ) {
    if (old[i] === next[j]) {
      common.old.add(i++);
      common.next.add(j++);
    } else if (lengths[(i + 1) * width + j]! >= lengths[i * width + j + 1]!) i += 1;
    else j += 1;
  }
  return common;
}

function rangesOf(words: readonly string[], isKept: (index: number) => boolean): TextRange[] {
  const ranges: TextRange[] = [];
  let at = 0;
  words.forEach((word, index) => {
    const last = ranges.at(-1);
    const follows = last?.end === at;
    // Also marks a space between two marked words.
    const isMarked =
      !isKept(index) || (follows && word.trim() === '' && index + 1 < words.length && !isKept(index + 1));
    if (isMarked && follows) last.end += word.length;
    else if (isMarked) ranges.push({ start: at, end: at + word.length });
    at += word.length;
  });
  return ranges;
}
