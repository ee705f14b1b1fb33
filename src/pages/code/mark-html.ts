/** Part of a text, in UTF-16 units. */
export interface TextRange {
  start: number;
  end: number;
}

const segments = /<[^>]*>|&[^;]*;|[^<&]/g;

/** Number of characters that HTML of spans and escaped text displays. */
export const textLength = (html: string): number => html.replace(/<[^>]*>/g, '').replace(/&[^;]*;/g, ' ').length;

/**
 * Puts `mark` around ranges of a line. A mark that crosses a span is closed and reopened, so that the two never
 * overlap.
 * @param html spans and escaped text
 * @param ranges positions in the displayed text, in order
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
