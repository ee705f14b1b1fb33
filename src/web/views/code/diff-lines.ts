import type { Hunk, Patch, PatchLine } from '../../../git/index.ts';
import { escapeHtml, lineHtml, showOddCharacters } from './code-html.ts';
import { differingWords, markHtml, textLength } from './word-marks.ts';
import type { TextRange } from './word-marks.ts';
import { readText } from './read-text.ts';

interface Row {
  line: PatchLine;
  html: string;
}

/** Lines of a patch belong to files in any encoding; each is read by itself. */
const textOf = ({ text }: PatchLine): string => readText(text)?.text ?? text.toString('latin1');

/** Both versions of a file line by line, as the highlighter gave them; null for one that it did not. */
export interface Colours {
  old: readonly string[] | null;
  fresh: readonly string[] | null;
}

const plain: Colours = { old: null, fresh: null };

function htmlOf(line: PatchLine, text: string, { old, fresh }: Colours, marks: readonly TextRange[]): string {
  const coloured = (line.kind === 'removed' ? old?.[line.oldNumber! - 1] : fresh?.[line.newNumber! - 1])?.replace(
    /\r$/,
    '',
  );
  const shown = text.replace(/\r$/, '');
  // Ignored white space shows as it is on one side; then the other has another line here.
  if (coloured !== undefined && textLength(coloured) === shown.length)
    return showOddCharacters(markHtml(coloured, marks));
  return marks.length === 0 ? lineHtml(text) : showOddCharacters(markHtml(escapeHtml(text), marks));
}

/** Where removed lines are followed by added ones, each pair shows which words differ. */
function rowsOf({ lines }: Hunk, colours: Colours): Row[] {
  const rows = lines.map((line): Row => ({ line, html: '' }));
  for (let at = 0; at < rows.length; ) {
    const removed = runOf(rows, at, 'removed');
    const added = runOf(rows, at + removed, 'added');
    for (let pair = 0; pair < Math.min(removed, added); pair += 1) {
      const [old, fresh] = [rows[at + pair]!, rows[at + removed + pair]!];
      const [before, after] = [textOf(old.line), textOf(fresh.line)];
      const words = differingWords(before, after);
      if (words === null) continue;
      old.html = htmlOf(old.line, before, colours, words.before);
      fresh.html = htmlOf(fresh.line, after, colours, words.after);
    }
    at += Math.max(1, removed + added);
  }
  for (const row of rows) if (row.html === '') row.html = htmlOf(row.line, textOf(row.line), colours, []);
  return rows;
}

function runOf(rows: readonly Row[], start: number, kind: PatchLine['kind']): number {
  let length = 0;
  while (rows[start + length]?.line.kind === kind) length += 1;
  return length;
}

const signs = { same: ' ', added: '+', removed: '-' } as const;
const words = { same: '', added: ' class="added"', removed: ' class="removed"' } as const;
const unended = '<span class="unended">No newline at the end</span>';

const number = (value: number | null): string => `<td class="number">${value ?? ''}</td>`;

function content({ line: { kind, isUnended }, html }: Row): string {
  return `<td><span class="sign">${signs[kind]}</span>${html}${isUnended ? unended : ''}</td>`;
}

/** The range in git's notation, so that `+` and `-` lines can be found elsewhere. */
function hunkHead({ oldStart, newStart, heading }: Hunk, span: number): string {
  return `<tr class="hunk"><td colspan="${span}">@@ -${oldStart} +${newStart} @@ ${showOddCharacters(escapeHtml(heading))}</td></tr>`;
}

/** A patch as the rows of a table: old number, new number, line. */
export function viewUnified({ hunks }: Patch, colours = plain): string {
  return hunks
    .map((hunk) => {
      const rows = rowsOf(hunk, colours).map(
        (row) =>
          `<tr${words[row.line.kind]}>${number(row.line.oldNumber)}${number(row.line.newNumber)}${content(row)}</tr>`,
      );
      return hunkHead(hunk, 3) + rows.join('');
    })
    .join('');
}

/** A patch as two columns: what was on the left, what is on the right. */
export function viewSplit({ hunks }: Patch, colours = plain): string {
  return hunks.map((hunk) => hunkHead(hunk, 4) + pairUp(rowsOf(hunk, colours)).map(splitRow).join('')).join('');
}

type Pair = [old: Row | null, fresh: Row | null];

function pairUp(rows: readonly Row[]): Pair[] {
  const pairs: Pair[] = [];
  for (let at = 0; at < rows.length; ) {
    const removed = runOf(rows, at, 'removed');
    const added = runOf(rows, at + removed, 'added');
    for (let pair = 0; pair < Math.max(removed, added); pair += 1) {
      pairs.push([pair < removed ? rows[at + pair]! : null, pair < added ? rows[at + removed + pair]! : null]);
    }
    if (removed + added === 0) pairs.push([rows[at]!, rows[at]!]);
    at += Math.max(1, removed + added);
  }
  return pairs;
}

function splitRow([old, fresh]: Pair): string {
  const side = (row: Row | null, isOld: boolean): string => {
    if (row === null) return '<td class="number nothing"></td><td class="nothing"></td>';
    const { kind, oldNumber, newNumber } = row.line;
    return `<td class="number">${(isOld ? oldNumber : newNumber) ?? ''}</td>${content(row).replace('<td>', `<td${words[kind]}>`)}`;
  };
  return `<tr>${side(old, true)}${side(fresh, false)}</tr>`;
}
