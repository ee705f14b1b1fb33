/** Lines by number from 1, both included; in ascending order, without overlaps. */
export type LineRanges = readonly (readonly [first: number, last: number])[];

/** Lines behind the last wanted one that a grammar may look at: the end of a comment, of a call. */
const lookAhead = 40;

/** The beginning of a text, as far as its colours matter for these lines. */
export function textFor(text: string, ranges: LineRanges): string {
  const lines = (ranges.at(-1)?.[1] ?? 0) + lookAhead;
  let end = 0;
  for (let line = 0; line < lines; line += 1) {
    end = text.indexOf('\n', end) + 1;
    if (end === 0) return text;
  }
  return text.slice(0, end);
}
