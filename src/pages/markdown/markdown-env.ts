import type { RenderedMarkdown } from './rendered-markdown.ts';

/** By the environment that the renderer makes for each document. */
const collected = new WeakMap<object, RenderedMarkdown>();

/** What a document has been found to hold so far. */
export function partsOf(env: object): RenderedMarkdown {
  const known = collected.get(env) ?? { html: '', blocks: [], formulas: [], tasks: [] };
  collected.set(env, known);
  return known;
}
