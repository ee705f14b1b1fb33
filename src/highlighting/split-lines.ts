/**
 * Splits highlighted HTML into lines that are each well-formed: elements open at the end of a line are closed there and
 * opened again in the next one.
 * @param html spans and escaped text only, as the highlighter writes it
 */
export function splitLines(html: string): string[] {
  const open: string[] = [];
  return html.split('\n').map((line) => {
    const before = open.join('');
    for (const [tag] of line.matchAll(/<span[^>]*>|<\/span>/g)) {
      if (tag === '</span>') open.pop();
      else open.push(tag);
    }
    return before + line + '</span>'.repeat(open.length);
  });
}
