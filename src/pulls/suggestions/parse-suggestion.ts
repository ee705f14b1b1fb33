/**
 * The lines that a comment suggests as a replacement of those of its thread: the content of its first code fence of the
 * kind `suggestion`, empty to delete the lines. Null without such a fence. Fences follow CommonMark 4.5.
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

/** The line that ends the fence starting at a line; -1 if there is none. Visits each line once for all fences. */
function endOf(lines: readonly string[], start: number, fence: string): number {
  for (let at = start + 1; at < lines.length; at += 1) if (closes(lines[at]!, fence)) return at;
  return -1;
}

/** Whether a line closes a fence: the same character, at least as often, and nothing else. */
function closes(line: string, fence: string): boolean {
  const text = line.trim();
  return /^ {0,3}[`~]/.test(line) && text.length >= fence.length && text === fence[0]!.repeat(text.length);
}

function withoutIndent(line: string, most: number): string {
  let spaces = 0;
  while (spaces < most && line[spaces] === ' ') spaces += 1;
  return line.slice(spaces);
}
