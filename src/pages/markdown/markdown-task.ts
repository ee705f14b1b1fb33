import { placeholders } from './link-placeholders.ts';
import type { RenderedMarkdown } from './rendered-markdown.ts';
import { renderParts } from './render-markdown.ts';
import type { TextKind } from './render-markdown.ts';

/**
 * Task of the worker pool: renders a document as sanitised HTML, with placeholders for the links that depend on its
 * path, and for the results of other tasks and of the page.
 */
export function run({
  source,
  showsRemoteImages,
  kind,
}: {
  source: string;
  showsRemoteImages: boolean;
  kind: TextKind;
}): RenderedMarkdown {
  return renderParts(source, { ...placeholders, showsRemoteImages }, kind);
}
