/** A part of a comment on code: text, or the lines that its author suggests instead of those that were commented. */
export type CommentPart = { kind: 'text'; text: string } | { kind: 'suggestion'; lines: string[] };

const opening = /^ {0,3}(`{3,})suggestion[ \t]*$/;

/** Splits a comment at its suggestions: fences of the kind `suggestion` (CommonMark 0.31, 4.5). */
export function splitSuggestions(body: string): CommentPart[] {
  const parts: CommentPart[] = [];
  let text: string[] = [];
  const endText = (): void => {
    if (text.some((line) => line.trim() !== '')) parts.push({ kind: 'text', text: text.join('\n') });
    text = [];
  };
  const lines = body.split(/\r?\n/);
  for (let at = 0; at < lines.length; at += 1) {
    const fence = opening.exec(lines[at]!)?.[1];
    if (fence === undefined) {
      text.push(lines[at]!);
      continue;
    }
    const isEnd = (line: string): boolean => {
      const closing = line.trim();
      return closing.length >= fence.length && /^`+$/.test(closing);
    };
    let end = at + 1;
    while (end < lines.length && !isEnd(lines[end]!)) end += 1;
    endText();
    parts.push({ kind: 'suggestion', lines: lines.slice(at + 1, end) });
    at = end;
  }
  endText();
  return parts;
}
