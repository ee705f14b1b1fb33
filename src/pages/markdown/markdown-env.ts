import type { RenderedMarkdown } from './rendered-markdown.ts';

/** Keyed by the renderer's environment, which is new for each document. */
const collected = new WeakMap<object, RenderedMarkdown>();

/** The parts of a document that were found so far. */
export function partsOf(env: object): RenderedMarkdown {
  const known = collected.get(env) ?? { html: '', blocks: [], formulas: [], tasks: [] };
  collected.set(env, known);
  return known;
}
