/**
 * The lines that a comment suggests in the place of those of its thread: those of its first fence of the kind
 * `suggestion`, none for lines that are to go. Null for a comment without one. Fences are those of CommonMark 4.5.
 */
export function parseSuggestion(body: string): string[] | null {
  const lines = body.split('\n');
  for (let at = 0; at < lines.length; at += 1) {
    const [, indent, fence, kind] = /^( {0,3})(`{3,}|~{3,})[ \t]*([^`]*)$/.exec(lines[at]!) ?? [];
    if (indent === undefined || fence === undefined || kind === undefined) continue;
    const end = endOf(lines, at, fence);
    const content = lines.slice(at + 1, end === -1 ? lines.length : end);
    if (kind.trim() === 'suggestion') return content.map((line) => withoutIndent(line, indent.length));
    if (end === -1) return null;
    at = end;
  }
  return null;
}

/** The line that ends the fence that begins at one; -1 for none. Each line is looked at once over all fences. */
function endOf(lines: readonly string[], start: number, fence: string): number {
  for (let at = start + 1; at < lines.length; at += 1) if (closes(lines[at]!, fence)) return at;
  return -1;
}

/** Whether a line ends a fence: the same character, as often at least, and nothing else. */
function closes(line: string, fence: string): boolean {
  const text = line.trim();
  return /^ {0,3}[`~]/.test(line) && text.length >= fence.length && text === fence[0]!.repeat(text.length);
}

function withoutIndent(line: string, most: number): string {
  let spaces = 0;
  while (spaces < most && line[spaces] === ' ') spaces += 1;
  return line.slice(spaces);
}
