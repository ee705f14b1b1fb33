/** Part of a text, in UTF-16 units. */
export interface TextRange {
  start: number;
  end: number;
}

const segments = /<[^>]*>|&[^;]*;|[^<&]/g;

/** How many characters HTML of spans and escaped text shows. */
export const textLength = (html: string): number => html.replace(/<[^>]*>/g, '').replace(/&[^;]*;/g, ' ').length;

/**
 * Puts `mark` around parts of a line. Where a mark meets a span it is closed and opened
 * again, so that the two never overlap.
 * @param html spans and escaped text
 * @param ranges in the text that it shows, in order
 */
export function markHtml(html: string, ranges: readonly TextRange[]): string {
  if (ranges.length === 0) return html;
  let marked = '';
  let at = 0;
  let next = 0;
  let isOpen = false;
  const set = (open: boolean): void => {
    if (open !== isOpen) marked += open ? '<mark>' : '</mark>';
    isOpen = open;
  };
  for (const [segment] of html.matchAll(segments)) {
    while (next < ranges.length && ranges[next]!.end <= at) next += 1;
    const isTag = segment.startsWith('<');
    set(!isTag && next < ranges.length && ranges[next]!.start <= at);
    marked += segment;
    if (!isTag) at += 1;
  }
  set(false);
  return marked;
}
