import type { MarkdownIt } from 'markdown-it';
import { partsOf } from './markdown-env.ts';
import { placeholder } from './placeholders.ts';

/**
 * A fence becomes a placeholder, and its code is returned separately for highlighting; a fence called `math` is a
 * formula.
 */
export function codeBlocks(markdown: MarkdownIt): void {
  const { escapeHtml, unescapeAll } = markdown.utils;
  markdown.renderer.rules.fence = (tokens, index, _options, env = {}) => {
    const { info, content } = tokens[index]!;
    const { blocks, formulas } = partsOf(env);
    const name = unescapeAll(info).trim().split(/\s+/, 1)[0]!;
    if (name === 'math') {
      formulas.push({ tex: content.trim(), isDisplay: true });
      return `<div class="scroll">${placeholder('formula', formulas.length - 1)}</div>\n`;
    }
    blocks.push({ language: name.toLowerCase(), text: content });
    const attribute = name === '' ? '' : ` class="language-${escapeHtml(name)}"`;
    return `<pre><code${attribute}>${placeholder('code', blocks.length - 1)}</code></pre>\n`;
  };
}
