import { placeholders } from './link-placeholders.ts';
import { parseNotebook } from './parse-notebook.ts';
import { renderNotebook } from './render-notebook.ts';
import type { RenderedNotebook } from './render-notebook.ts';

/**
 * Task of the worker pool: renders a notebook as sanitised HTML, as `markdown-task.ts` renders a document; null if it
 * is not a notebook.
 */
export function run({
  source,
  showsRemoteImages,
}: {
  source: string;
  showsRemoteImages: boolean;
}): RenderedNotebook | null {
  const notebook = parseNotebook(source);
  return notebook && renderNotebook(notebook, { ...placeholders, showsRemoteImages });
}
