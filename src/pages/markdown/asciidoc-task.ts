import { placeholders } from './link-placeholders.ts';
import { renderAsciidoc } from './render-asciidoc.ts';
import type { RenderedMarkdown } from './rendered-markdown.ts';

/** Task of the worker pool: renders an AsciiDoc document, as `markdown-task.ts` does for Markdown. */
export function run({
  source,
  showsRemoteImages,
}: {
  source: string;
  showsRemoteImages: boolean;
}): Promise<RenderedMarkdown> {
  return renderAsciidoc(source, { ...placeholders, showsRemoteImages });
}
