import { gramsOf, longestGram } from './grams.ts';
import type { IndexedText } from './grams.ts';

/** Texts looked at before others have a turn. */
const textsAtOnce = 200;

/**
 * The grams that more than `most` of some texts have, level by level as an index would grow.
 * @param texts a sample of those that the index will hold
 */
export async function estimateGrown(texts: readonly IndexedText[], most: number): Promise<string[]> {
  const grown = new Set<string>();
  for (let length = 1; length <= longestGram; length++) {
    const counts = new Map<string, number>();
    for (const [at, text] of texts.entries()) {
      for (const gram of gramsOf(text, grown).split(' '))
        if (!grown.has(gram)) counts.set(gram, (counts.get(gram) ?? 0) + 1);
      if (at % textsAtOnce === 0) await new Promise((resolve) => setImmediate(resolve));
    }
    const before = grown.size;
    for (const [gram, texts] of counts) if (texts > most && gram !== '') grown.add(gram);
    if (grown.size === before) break;
  }
  return [...grown];
}
