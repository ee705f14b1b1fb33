import { placeholders } from './link-placeholders.ts';
import { renderAsciidoc } from './render-asciidoc.ts';
import type { RenderedMarkdown } from './rendered-markdown.ts';

/** A task of the worker pool: a document in AsciiDoc, as `markdown-task.ts` renders one in Markdown. */
export function run({
  source,
  showsRemoteImages,
}: {
  source: string;
  showsRemoteImages: boolean;
}): Promise<RenderedMarkdown> {
  return renderAsciidoc(source, { ...placeholders, showsRemoteImages });
}
