/** What is remembered in all, in UTF-16 units: a hundred long documents. */
const maxRemembered = 4 * 1024 * 1024;

/** Rendered documents by the id of their blob, the least recently seen first. An id never means other bytes. */
const rendered = new Map<string, string>();
let remembered = 0;

function remember(oid: string, html: string): void {
  rendered.set(oid, html);
  remembered += html.length;
  for (const [oldest, old] of rendered) {
    if (remembered <= maxRemembered) break;
    rendered.delete(oldest);
    remembered -= old.length;
  }
}

/**
 * Renders a document of a repository, or recalls it: rendering blocks the event
 * loop for about two milliseconds per kB. Links into the repository await the
 * pages that they would lead to, and then belong into the key.
 */
export async function renderOnce(oid: string, source: () => string): Promise<string> {
  const known = rendered.get(oid);
  if (known !== undefined) {
    rendered.delete(oid);
    rendered.set(oid, known);
    return known;
  }
  // Loaded by the first document: the renderer and the cleaner are a good part of what a start would load.
  const { renderMarkdown } = await import('./render-markdown.ts');
  const html = renderMarkdown(source(), { page: () => null, image: () => null });
  if (!rendered.has(oid)) remember(oid, html);
  return html;
}
