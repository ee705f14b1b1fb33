import hljs from 'highlight.js';
import { languageCalled, languageOf } from './languages.ts';

// One class per kind of token, without the library's prefix; the stylesheet names them.
hljs.configure({ classPrefix: 'x-' });

/** The characters of all blocks of one document that are highlighted; the blocks behind them are plain text. */
const maxLength = 64 * 1024;

/**
 * A task of the worker pool: blocks of code as HTML with a span for each token; null where the language is unknown.
 * @param blocks with the language as the author wrote it: a name, an alias or the ending of a file name
 */
export function run({ blocks }: { blocks: readonly { language: string; text: string }[] }): (string | null)[] {
  let length = 0;
  return blocks.map(({ language, text }) => {
    const grammar = grammarOf(language);
    if (grammar === null) return null;
    length += text.length;
    if (length > maxLength) return null;
    return hljs.highlight(text, { language: grammar, ignoreIllegals: true }).value;
  });
}

function grammarOf(language: string): string | null {
  if (language === '' || language.length > 40) return null;
  const known = languageCalled(language)?.grammar ?? languageOf(`block.${language}`)?.grammar;
  return known ?? (hljs.getLanguage(language) === undefined ? null : language);
}
