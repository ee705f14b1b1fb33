import { t } from '../../translation/index.ts';
import { isUtf8 } from 'node:buffer';

/** Larger files are neither edited in a browser nor shown. */
export const maxEditedBytes = 1024 * 1024;

const byteOrderMark = Buffer.from([0xef, 0xbb, 0xbf]);

/** The line ending of a file. `mixed` has both. */
type LineEnding = 'lf' | 'crlf' | 'mixed' | 'none';

/** A file in the form of a text area: lines that end with a line feed. */
interface EditableText {
  text: string;
  ending: LineEnding;
  hasMark: boolean;
}

/**
 * The text of a file for a text area, or the reason why it cannot be edited there: a browser sends valid text only, and
 * supports one kind of line ending.
 * @param content null for a file that is too large
 */
export function readEditable(content: Buffer | null): EditableText | { reason: string } {
  if (content === null || content.length > maxEditedBytes)
    return { reason: t('editing.editable_text.too_large_to_edit', { size: maxEditedBytes / 1024 / 1024 }) };
  if (content.includes(0)) return { reason: t('editing.editable_text.binary_files_can_only_be_renamed') };
  if (!isUtf8(content)) return { reason: t('editing.editable_text.this_file_is_not_utf_8') };
  const hasMark = content.subarray(0, 3).equals(byteOrderMark);
  const text = content.toString('utf8', hasMark ? 3 : 0);
  if (/\r(?!\n)/.test(text)) return { reason: t('editing.editable_text.this_file_has_carriage_returns_that') };
  return { text: text.replaceAll('\r\n', '\n'), ending: endingOf(text), hasMark };
}

function endingOf(text: string): LineEnding {
  let [crlf, lf] = [0, 0];
  for (let at = text.indexOf('\n'); at !== -1; at = text.indexOf('\n', at + 1)) {
    if (text[at - 1] === '\r') crlf += 1;
    else lf += 1;
  }
  if (crlf > 0 && lf > 0) return 'mixed';
  return crlf > 0 ? 'crlf' : lf > 0 ? 'lf' : 'none';
}

interface LineEndingOptions {
  /** Line ending of new lines. */
  newLines: 'lf' | 'crlf';
  insertsFinalNewline: boolean;
}

/**
 * The bytes of a file after an edit in its text area. Unchanged lines at its beginning and end keep their line ending,
 * as does the byte-order mark.
 * @param before the previous file; null for a new one
 */
export function encodeEditedText(
  typed: string,
  before: Buffer | null,
  { newLines, insertsFinalNewline }: LineEndingOptions,
): Buffer {
  const text = insertsFinalNewline && typed !== '' && !typed.endsWith('\n') ? `${typed}\n` : typed;
  const original = before === null ? null : readEditable(before);
  if (original === null || 'reason' in original) return Buffer.from(withEndings(text, newLines));
  const mark = original.hasMark ? [byteOrderMark] : [];
  if (text === original.text) return before!;
  if (original.ending !== 'mixed') {
    const ending = original.ending === 'none' ? newLines : original.ending;
    return Buffer.concat([...mark, Buffer.from(withEndings(text, ending))]);
  }
  return Buffer.concat([
    ...mark,
    Buffer.from(keepEndings(text, before!.toString('utf8', original.hasMark ? 3 : 0), newLines)),
  ]);
}

const withEndings = (text: string, ending: 'lf' | 'crlf'): string =>
  ending === 'crlf' ? text.replaceAll('\n', '\r\n') : text;

/**
 * Unchanged lines at either end keep their line ending. Lines in between have that of the line that they replace, and
 * additional lines that of the last replaced one; if they replace none, they are new.
 */
function keepEndings(text: string, before: string, newLines: 'lf' | 'crlf'): string {
  const lines = linesOf(text);
  const old = linesOf(before);
  const plain = (line: string): string => line.replace(/\r\n$/, '\n');
  const most = Math.min(lines.length, old.length);
  let start = 0;
  while (start < most && plain(old[start]!) === lines[start]) start += 1;
  let end = 0;
  while (end < most - start && plain(old[old.length - 1 - end]!) === lines[lines.length - 1 - end]) end += 1;
  const replaced = old.slice(start, old.length - end);
  const endingAt = (at: number): 'lf' | 'crlf' => {
    const line = replaced[Math.min(at, replaced.length - 1)];
    return line === undefined || !line.endsWith('\n') ? newLines : line.endsWith('\r\n') ? 'crlf' : 'lf';
  };
  return [
    ...old.slice(0, start),
    ...lines.slice(start, lines.length - end).map((line, at) => withEndings(line, endingAt(at))),
    ...(end === 0 ? [] : old.slice(-end)),
  ].join('');
}

const linesOf = (text: string): string[] => text.split(/(?<=\n)/);
