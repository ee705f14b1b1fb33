import type { RenderedParts } from './document-parts.ts';

/** By the environment that the renderer makes for each document. */
const collected = new WeakMap<object, RenderedParts>();

/** What a document has been found to hold so far. */
export function partsOf(env: object): RenderedParts {
  const known = collected.get(env) ?? { html: '', blocks: [], formulas: [], tasks: [] };
  collected.set(env, known);
  return known;
}
