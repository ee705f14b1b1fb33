import type { DocumentPlace } from './repository-links.ts';

/** What is remembered in all, in UTF-16 units: a hundred long documents. */
const maxRemembered = 4 * 1024 * 1024;

/** Rendered documents by the id of their blob and where they lie, the least recently seen first. An id never means other bytes. */
const rendered = new Map<string, string>();
let remembered = 0;

function remember(key: string, html: string): void {
  rendered.set(key, html);
  remembered += html.length;
  for (const [oldest, old] of rendered) {
    if (remembered <= maxRemembered) break;
    rendered.delete(oldest);
    remembered -= old.length;
  }
}

/**
 * Renders a document of a repository, or recalls it: rendering blocks the event
 * loop for about two milliseconds per kB. Its links lead to where it lies, so the
 * place belongs to what it is remembered by.
 */
export async function renderOnce(oid: string, place: DocumentPlace, source: () => string): Promise<string> {
  const key = `${oid} ${place.repositoryUrl} ${place.ref} ${place.showsRemoteImages} ${place.folder.toString('latin1')}`;
  const known = rendered.get(key);
  if (known !== undefined) {
    rendered.delete(key);
    rendered.set(key, known);
    return known;
  }
  // Loaded by the first document: the renderer and the cleaner are a good part of what a start would load.
  const [{ renderMarkdown }, { repositoryLinks }] = await Promise.all([
    import('./render-markdown.ts'),
    import('./repository-links.ts'),
  ]);
  const html = renderMarkdown(source(), repositoryLinks(place));
  if (!rendered.has(key)) remember(key, html);
  return html;
}
