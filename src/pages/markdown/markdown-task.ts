import { placeholders } from './link-placeholders.ts';
import { renderMarkdown } from './render-markdown.ts';

/**
 * A task of the worker pool: a document as clean HTML, with placeholders for the links that depend on where it lies.
 */
export function run({ source, showsRemoteImages }: { source: string; showsRemoteImages: boolean }): string {
  return renderMarkdown(source, { ...placeholders, showsRemoteImages });
}
