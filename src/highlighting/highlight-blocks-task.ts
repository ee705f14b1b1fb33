import { languageCalled, languageOf } from './languages.ts';
import { grammarCalled, loadGrammar } from './load-grammar.ts';

/** Limit in characters on all highlighted blocks of one document; further blocks are plain text. */
const maxLength = 64 * 1024;

/**
 * Task of the worker pool: blocks of code as HTML with a span for each token; null if the language is unknown.
 * @param blocks with the language as the author wrote it: a name, an alias or a file extension
 */
export async function run({
  blocks,
}: {
  blocks: readonly { language: string; text: string }[];
}): Promise<(string | null)[]> {
  let length = 0;
  const highlighted: (string | null)[] = [];
  for (const { language, text } of blocks) {
    const grammar = grammarOf(language);
    if (grammar !== null) length += text.length;
    if (grammar === null || length > maxLength) highlighted.push(null);
    else {
      const hljs = await loadGrammar(grammar);
      highlighted.push(hljs.highlight(text, { language: grammar, ignoreIllegals: true }).value);
    }
  }
  return highlighted;
}

function grammarOf(language: string): string | null {
  if (language === '' || language.length > 40) return null;
  return languageCalled(language)?.grammar ?? languageOf(`block.${language}`)?.grammar ?? grammarCalled(language);
}
