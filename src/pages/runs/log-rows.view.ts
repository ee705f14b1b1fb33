import { readLogCommand } from '../../ci/index.ts';
import type { LogCommand, StoredRow } from '../../ci/index.ts';
import { parseAnsi } from './ansi.ts';
import type { Segment } from './ansi.ts';

/** A segment of a row; a URL is a link. */
interface LogSegment extends Segment {
  href: string | null;
}

/** One row of a log on a page. */
interface LogRowView {
  /** From 1. */
  number: number;
  /** `10:31:07` in UTC. */
  time: string;
  kind: 'plain' | LogCommand['name'];
  segments: LogSegment[];
  /** The row that the URL selects. */
  isTarget: boolean;
}

/** Rows between the start and the end of a group, below a row that shows or hides them. */
interface LogGroupView {
  head: LogRowView;
  isOpen: boolean;
  /** The rows of the page start inside of it. */
  isContinued: boolean;
  rows: LogRowView[];
}

/** Excludes trailing punctuation that belongs to the sentence around it. */
const addresses = /https?:\/\/[^\s<>"'`|\\^{}\u0000-\u001f]*[^\s<>"'`|\\^{}\u0000-\u001f.,:;!?)\]]/g;

export function viewLogRow({ at, content }: StoredRow, number: number, target: number | null = null): LogRowView {
  const time = new Date(at).toISOString().slice(11, 19);
  const command = readLogCommand(content);
  const kind = command?.name ?? 'plain';
  const text =
    command === null ? content : labelOf(command) + command.message.replaceAll('\n', ' ').replace(/\r+ ?/g, ' ');
  return {
    number,
    time,
    kind,
    segments: kind === 'endgroup' ? [] : parseAnsi(text).flatMap(withLinks),
    isTarget: number - 1 === target,
  };
}

/** The location of an annotation, which its row does not show otherwise. */
function labelOf({ properties }: LogCommand): string {
  const [file, line, title] = ['file', 'line', 'title'].map((name) => properties.get(name) ?? '');
  return `${file === '' ? '' : `${file}${line === '' ? '' : `:${line}`}: `}${title === '' ? '' : `${title}: `}`;
}

function withLinks({ text, style }: Segment): LogSegment[] {
  const parts: LogSegment[] = [];
  let from = 0;
  for (const { index, 0: href } of text.matchAll(addresses)) {
    if (index > from) parts.push({ text: text.slice(from, index), style, href: null });
    parts.push({ text: href, style, href });
    from = index + href.length;
  }
  if (from < text.length) parts.push({ text: text.slice(from), style, href: null });
  return parts;
}

/**
 * Rows with their groups. A group is closed unless it contains an error, the row that the URL selects, or the end of a
 * growing log.
 * @param outer the row that starts the group of the first row
 */
export function viewLogRows(
  rows: readonly LogRowView[],
  { outer, isOpenAtEnd }: { outer: LogRowView | null; isOpenAtEnd: boolean },
): (LogRowView | LogGroupView)[] {
  const items: (LogRowView | LogGroupView)[] = [];
  let group: LogGroupView | null = null;
  const begin = (head: LogRowView, isContinued: boolean): void => {
    group = { head, isContinued, isOpen: isContinued || head.isTarget, rows: [] };
    items.push(group);
  };
  if (outer !== null) begin(outer, true);
  for (const row of rows) {
    if (row.kind === 'group') begin(row, false);
    else if (row.kind === 'endgroup') group = null;
    else if (group === null) items.push(row);
    else addTo(group, row);
  }
  if (group !== null && isOpenAtEnd) (group as LogGroupView).isOpen = true;
  return items;
}

function addTo(group: LogGroupView, row: LogRowView): void {
  group.rows.push(row);
  if (row.kind === 'error' || row.isTarget) group.isOpen = true;
}
