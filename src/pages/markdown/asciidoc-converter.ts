import { Html5Converter } from '@asciidoctor/core';
import type { Block, Inline } from '@asciidoctor/core';
import { escapeText, placeholder, unescapeHtml } from './placeholders.ts';
import type { CodeBlock, Formula } from './rendered-markdown.ts';

/**
 * Asciidoctor's HTML, except where Markdown pages have their own form: code, formulas, notes, wide tables and titles.
 */
export class AsciidocConverter extends Html5Converter {
  readonly blocks: CodeBlock[] = [];
  readonly formulas: Formula[] = [];

  override async convert_listing(node: Block): Promise<string> {
    const html = await textOf(node);
    // Callout numbers are elements: such a block is shown without highlighting.
    if (html.includes('<')) return `${titleOf(node)}<pre><code>${html}</code></pre>`;
    const language = String(node.getAttribute('language') ?? '').toLowerCase();
    const index = this.blocks.push({ language: wordOf(language), text: unescapeHtml(html) }) - 1;
    // Same language as the Markdown fence, which pages draw as a diagram.
    const drawn = language === 'mermaid' ? ' class="language-mermaid"' : '';
    return `${titleOf(node)}<pre><code${drawn}>${placeholder('code', index)}</code></pre>`;
  }

  override async convert_admonition(node: Block): Promise<string> {
    const kind = String(node.getAttribute('name') ?? 'note');
    const label = `<p><strong>${escapeText(String(node.getAttribute('textlabel') ?? kind))}</strong></p>`;
    const title = node.hasTitle() ? `<p><strong>${node.getTitle() ?? ''}</strong></p>` : '';
    const content = await textOf(node);
    const body = node.hasBlocks() ? content : `<p>${content}</p>`;
    return `<blockquote class="alert-${wordOf(kind)}">${label}${title}${body}</blockquote>`;
  }

  override async convert_table(node: Parameters<Html5Converter['convert_table']>[0]): Promise<string> {
    return `<div class="scroll">${await super.convert_table(node)}</div>`;
  }

  override async convert_stem(node: Block): Promise<string> {
    const html = await textOf(node);
    return titleOf(node) + this.#formula(html, node.getStyle() === 'latexmath', true);
  }

  override async convert_inline_quoted(node: Inline): Promise<string> {
    const kind = String(node.getType());
    return kind === 'latexmath' || kind === 'asciimath'
      ? this.#formula(String(node.getText() ?? ''), kind === 'latexmath', false)
      : super.convert_inline_quoted(node);
  }

  /** AsciiMath is shown as source. */
  #formula(html: string, isTex: boolean, isDisplay: boolean): string {
    if (!isTex || html.includes('<')) return `<code>${html}</code>`;
    return placeholder('formula', this.formulas.push({ tex: unescapeHtml(html), isDisplay }) - 1);
  }
}

const textOf = async (node: Block): Promise<string> => String((await node.content()) ?? '');

const titleOf = (node: Block): string => (node.hasTitle() ? `<p><strong>${node.captionedTitle()}</strong></p>` : '');

/** Valid characters of a class or a language name. */
const wordOf = (text: string): string => /^[\w+#.-]{1,30}$/.exec(text)?.[0] ?? '';
