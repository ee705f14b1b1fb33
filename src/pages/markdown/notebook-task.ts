import { placeholders } from './link-placeholders.ts';
import { parseNotebook } from './parse-notebook.ts';
import { renderNotebook } from './render-notebook.ts';
import type { RenderedNotebook } from './render-notebook.ts';

/** A task of the worker pool: a notebook as clean HTML, as `markdown-task.ts` renders a document; else null. */
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
