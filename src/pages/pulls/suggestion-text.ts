/** A part of a comment on code: text, or the lines that its author suggests as a replacement. */
type CommentPart = { kind: 'text'; text: string } | { kind: 'suggestion'; lines: string[] };

/** The beginning of a fenced code block (CommonMark 0.31, 4.5). */
const opening = /^( {0,3})(`{3,}|~{3,})[ \t]*([^`]*)$/;

/** Splits a comment at its suggestions: fences with the info string `suggestion`, unless inside another fence. */
export function splitSuggestions(body: string): CommentPart[] {
  const parts: CommentPart[] = [];
  let text: string[] = [];
  const endText = (): void => {
    if (text.some((line) => line.trim() !== '')) parts.push({ kind: 'text', text: text.join('\n') });
    text = [];
  };
  const lines = body.split('\n');
  for (let at = 0; at < lines.length; at += 1) {
    const [, indent = '', fence, kind = ''] = opening.exec(lines[at]!) ?? [];
    if (fence === undefined) {
      text.push(lines[at]!);
      continue;
    }
    let end = at + 1;
    while (end < lines.length && !closes(lines[end]!, fence)) end += 1;
    if (kind.trim() === 'suggestion') {
      endText();
      const content = lines.slice(at + 1, end);
      parts.push({ kind: 'suggestion', lines: content.map((line) => withoutIndent(line, indent.length)) });
    } else text.push(...lines.slice(at, end + 1));
    at = end;
  }
  endText();
  return parts;
}

/** Whether a line closes a fence: the same character, at least as many times, and nothing else. */
function closes(line: string, fence: string): boolean {
  const closing = line.trim();
  return closing.length >= fence.length && closing.split('').every((character) => character === fence[0]);
}

const withoutIndent = (line: string, width: number): string =>
  line.slice(0, width).trim() === '' ? line.slice(width) : line;
