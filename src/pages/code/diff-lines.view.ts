import type { Hunk, Patch, PatchLine } from '../../git/index.ts';
import { escapeHtml, lineHtml, showInvisibleCharacters } from '../app/code-html.ts';
import { markHtml, textLength } from './mark-html.ts';
import type { TextRange } from './mark-html.ts';
import type { WordDiff } from './word-diff.ts';
import { decodeFileText } from '../app/decode-text.ts';
import { t } from '../../translation/index.ts';

interface Row {
  line: PatchLine;
  html: string;
}

/** Decodes each line by itself: lines of a patch come from files in any encoding. */
const textOf = ({ text }: PatchLine): string => decodeFileText(text)?.text ?? text.toString('latin1');

/** The highlighted lines of both versions of a file; null for a version without highlighting. */
export interface Colours {
  old: readonly string[] | null;
  fresh: readonly string[] | null;
}

const plain: Colours = { old: null, fresh: null };

/** The changed words in each of the `changedPairs` of a patch, in their order; null where marks would not help. */
export type WordMarks = readonly (WordDiff | null)[];

/** Longer lines are not compared word by word. */
const maxPairLength = 2_000;

/** Where added lines follow removed ones, each pair is a line before and after its change. */
function pairsOf({ lines }: Hunk): [old: PatchLine, fresh: PatchLine][] {
  const pairs: [PatchLine, PatchLine][] = [];
  for (let at = 0; at < lines.length; ) {
    const removed = runOf(lines, at, 'removed');
    const added = runOf(lines, at + removed, 'added');
    for (let pair = 0; pair < Math.min(removed, added); pair += 1)
      pairs.push([lines[at + pair]!, lines[at + removed + pair]!]);
    at += Math.max(1, removed + added);
  }
  return pairs;
}

/** The texts of all such pairs; empty for a line that is too long to be compared. */
export function changedPairs({ hunks }: Patch): [before: string, after: string][] {
  return hunks.flatMap(pairsOf).map(([old, fresh]) => {
    const [before, after] = [textOf(old), textOf(fresh)];
    return before.length > maxPairLength || after.length > maxPairLength ? ['', ''] : [before, after];
  });
}

function htmlOf(line: PatchLine, text: string, { old, fresh }: Colours, marks: readonly TextRange[]): string {
  const coloured = (line.kind === 'removed' ? old?.[line.oldNumber! - 1] : fresh?.[line.newNumber! - 1])?.replace(
    /\r$/,
    '',
  );
  const shown = text.replace(/\r$/, '');
  // With white space ignored, one side is shown as it is; the other side then has a different line here.
  if (coloured !== undefined && textLength(coloured) === shown.length)
    return showInvisibleCharacters(markHtml(coloured, marks));
  return marks.length === 0 ? lineHtml(text) : showInvisibleCharacters(markHtml(escapeHtml(text), marks));
}

function rowsOf({ hunk, marks }: MarkedHunk, colours: Colours): Row[] {
  const ranges = new Map<PatchLine, readonly TextRange[]>();
  for (const [index, [old, fresh]] of pairsOf(hunk).entries()) {
    const words = marks[index];
    if (!words) continue;
    ranges.set(old, words.before).set(fresh, words.after);
  }
  return hunk.lines.map((line) => ({ line, html: htmlOf(line, textOf(line), colours, ranges.get(line) ?? []) }));
}

interface MarkedHunk {
  hunk: Hunk;
  marks: WordMarks;
}

/** Each hunk with its part of the marks. */
function markedHunks({ hunks }: Patch, marks: WordMarks): MarkedHunk[] {
  let from = 0;
  return hunks.map((hunk) => {
    const start = from;
    from += pairsOf(hunk).length;
    return { hunk, marks: marks.slice(start, from) };
  });
}

function runOf(lines: readonly PatchLine[], start: number, kind: PatchLine['kind']): number {
  let length = 0;
  while (lines[start + length]?.kind === kind) length += 1;
  return length;
}

const signs = { same: ' ', added: '+', removed: '-' } as const;
const words = { same: '', added: ' class="added"', removed: ' class="removed"' } as const;
const unended = (): string => `<span class="unended">${escapeHtml(t('code.diff_lines.no_newline_at_the_end'))}</span>`;

/** One row of a table of lines, with its line numbers in both versions. */
export interface DiffRow {
  html: string;
  old: number | null;
  fresh: number | null;
}

/** Additions of a page to the rows, as safe HTML. */
export interface RowAdditions {
  /** Before a line; before a line of the older version where it was removed. */
  beside(side: 'OLD' | 'NEW', line: number): string;
  /** Content after the range of a hunk. */
  afterRange(hunk: Hunk): string;
}

const nothing: RowAdditions = { beside: () => '', afterRange: () => '' };

const number = (value: number | null): string => `<td class="number">${value ?? ''}</td>`;

function content({ line: { kind, isUnended }, html }: Row, added: string): string {
  return `<td>${added}<span class="sign">${signs[kind]}</span>${html}${isUnended ? unended() : ''}</td>`;
}

/** A range in git's notation: a count of one is omitted. */
function rangeText(start: number, { lines }: Hunk, kind: 'added' | 'removed'): string {
  const count = lines.filter((line) => line.kind === 'same' || line.kind === kind).length;
  return count === 1 ? String(start) : `${start},${count}`;
}

/** The range in git's notation, which locates `+` and `-` lines in other tools. */
function hunkHead(hunk: Hunk, span: number, { afterRange }: RowAdditions): DiffRow {
  const range = `@@ -${rangeText(hunk.oldStart, hunk, 'removed')} +${rangeText(hunk.newStart, hunk, 'added')} @@`;
  const heading = showInvisibleCharacters(escapeHtml(hunk.heading));
  return {
    html: `<tr class="hunk"><td colspan="${span}">${range} ${heading}${afterRange(hunk)}</td></tr>`,
    old: null,
    fresh: null,
  };
}

/** A patch as the rows of a table: old number, new number, line. */
export function unifiedRows(
  patch: Patch,
  colours = plain,
  marks: WordMarks = [],
  additions: RowAdditions = nothing,
): DiffRow[] {
  return markedHunks(patch, marks).flatMap((marked) => [
    hunkHead(marked.hunk, 3, additions),
    ...rowsOf(marked, colours).map((row): DiffRow => {
      const { kind, oldNumber, newNumber } = row.line;
      const added = newNumber === null ? additions.beside('OLD', oldNumber!) : additions.beside('NEW', newNumber);
      return {
        html: `<tr${words[kind]}>${number(oldNumber)}${number(newNumber)}${content(row, added)}</tr>`,
        old: oldNumber,
        fresh: newNumber,
      };
    }),
  ]);
}

/** A patch as two columns: the older version on the left, the newer one on the right. */
export function splitRows(
  patch: Patch,
  colours = plain,
  marks: WordMarks = [],
  additions: RowAdditions = nothing,
): DiffRow[] {
  return markedHunks(patch, marks).flatMap((marked) => [
    hunkHead(marked.hunk, 4, additions),
    ...pairUp(rowsOf(marked, colours)).map((pair) => splitRow(pair, additions)),
  ]);
}

type Pair = [old: Row | null, fresh: Row | null];

function pairUp(rows: readonly Row[]): Pair[] {
  const pairs: Pair[] = [];
  const lines = rows.map(({ line }) => line);
  for (let at = 0; at < rows.length; ) {
    const removed = runOf(lines, at, 'removed');
    const added = runOf(lines, at + removed, 'added');
    for (let pair = 0; pair < Math.max(removed, added); pair += 1) {
      pairs.push([pair < removed ? rows[at + pair]! : null, pair < added ? rows[at + removed + pair]! : null]);
    }
    if (removed + added === 0) pairs.push([rows[at]!, rows[at]!]);
    at += Math.max(1, removed + added);
  }
  return pairs;
}

function splitRow([old, fresh]: Pair, { beside }: RowAdditions): DiffRow {
  const side = (row: Row | null, isOld: boolean): string => {
    if (row === null) return '<td class="number nothing"></td><td class="nothing"></td>';
    const { kind, oldNumber, newNumber } = row.line;
    const line = (isOld ? oldNumber : newNumber)!;
    return `<td class="number">${line}</td>${content(row, beside(isOld ? 'OLD' : 'NEW', line)).replace('<td>', `<td${words[kind]}>`)}`;
  };
  return {
    html: `<tr>${side(old, true)}${side(fresh, false)}</tr>`,
    old: old?.line.oldNumber ?? null,
    fresh: fresh?.line.newNumber ?? null,
  };
}
