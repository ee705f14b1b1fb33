import type { BlameGroup } from '../../git/index.ts';
import type { TextPart } from './text-parts.ts';

/** Rows and lines of one page: a row with its commit counts as ten lines. */
const maxGroups = 1_000;
const maxLines = 10_000;

/**
 * The rows of a blame on one page: the part that contains a line, or the part with a number; the nearest existing one.
 * A row is never split.
 */
export function partOfBlame(
  groups: readonly BlameGroup[],
  wanted: { line: number } | { number: number },
): { groups: readonly BlameGroup[]; part: Omit<TextPart, 'text'> } {
  const starts = [0];
  let lines = 0;
  for (const [index, group] of groups.entries()) {
    const start = starts.at(-1)!;
    if (index - start >= maxGroups || (lines > 0 && lines + group.lines.length > maxLines)) {
      starts.push(index);
      lines = 0;
    }
    lines += group.lines.length;
  }
  const index =
    'line' in wanted
      ? Math.max(
          0,
          starts.findLastIndex((start) => (groups[start]?.firstLine ?? 1) <= wanted.line),
        )
      : Math.min(Math.max(1, wanted.number), starts.length) - 1;
  const shown = groups.slice(starts[index], starts[index + 1]);
  const endOf = (group: BlameGroup | undefined): number =>
    group === undefined ? 0 : group.firstLine + group.lines.length - 1;
  return {
    groups: shown,
    part: {
      number: index + 1,
      count: starts.length,
      firstLine: shown[0]?.firstLine ?? 1,
      lastLine: endOf(shown.at(-1)),
      lineCount: endOf(groups.at(-1)),
    },
  };
}
