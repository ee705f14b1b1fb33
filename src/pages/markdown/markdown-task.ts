import { placeholders } from './link-placeholders.ts';
import type { RenderedMarkdown } from './rendered-markdown.ts';
import { renderParts } from './render-markdown.ts';
import type { TextKind } from './render-markdown.ts';

/**
 * A task of the worker pool: a document as clean HTML, with placeholders for the links that depend on its path,
 * and marks for what other tasks and the page put in.
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
