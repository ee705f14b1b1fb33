import type { DocumentLinks } from './document-links.ts';
import { anchorPrefix } from './heading-anchors.ts';
import type { Cell, Notebook, Output } from './parse-notebook.ts';
import { escapeText, fillPlaceholders, placeholder } from './placeholders.ts';
import type { RenderedMarkdown } from './rendered-markdown.ts';
import { renderParts } from './render-markdown.ts';
import { sanitize } from './sanitize.ts';

export interface RenderedNotebook extends RenderedMarkdown {
  cellCount: number;
}

/**
 * Limit on the output of all Markdown and HTML, in characters: short source may become long HTML, which also takes
 * time.
 */
const maxMarkup = 384 * 1024;

/**
 * A notebook as one document. Each cell and each output is rendered and sanitised separately, so that none of them
 * affects the next; the markup around them is escaped here (security C02). The sanitiser removes scripts, styles and
 * frames of outputs, and images must begin with their signature. It ends with a note if its Markdown and HTML have
 * become too long.
 */
export function renderNotebook({ language, cells, isCut }: Notebook, links: DocumentLinks): RenderedNotebook {
  const document = new NotebookDocument(language, links);
  const shown: string[] = [];
  for (const cell of cells) {
    if (document.markupLength >= maxMarkup) break;
    shown.push(document.cell(cell, shown.length + 1));
  }
  const note =
    isCut || shown.length < cells.length
      ? '<p class="cell-note">The notebook is longer than what is shown. Its source has the rest.</p>'
      : '';
  return { ...document.parts, html: shown.join('') + note, cellCount: cells.length };
}

class NotebookDocument {
  readonly parts: RenderedMarkdown = { html: '', blocks: [], formulas: [], tasks: [] };
  readonly #language: string;
  readonly #links: DocumentLinks;
  readonly #ids = new Set<string>();
  /** Length of Markdown and HTML, in characters. */
  markupLength = 0;

  constructor(language: string, links: DocumentLinks) {
    this.#language = language;
    this.#links = links;
  }

  cell(cell: Cell, number: number): string {
    if (cell.kind === 'markdown') return `<div class="cell">${this.#markdown(cell.source)}</div>`;
    if (cell.kind === 'raw') return `<div class="cell">${block('', escapeText(cell.source))}</div>`;
    const outputs = cell.outputs.map((output) => this.#output(output, number)).join('');
    return (
      `<div class="cell code-cell"><span class="cell-count">[${cell.count || ' '}]</span>` +
      `<div class="cell-parts">${this.#code(cell.source)}${outputs}</div></div>`
    );
  }

  #code(source: string): string {
    if (source.trim() === '') return '';
    const { blocks } = this.parts;
    blocks.push({ language: this.#language, text: source });
    return block('', placeholder('code', blocks.length - 1));
  }

  #output(output: Output, number: number): string {
    switch (output.kind) {
      case 'text':
      case 'error':
        return output.text.trim() === ''
          ? ''
          : block(output.kind === 'error' ? ' is-error' : ' is-output', escapeText(output.text));
      case 'image':
        // Deliberately not in the sanitiser's form: it has no file whose size could be looked up.
        return `<p><img alt="Output of cell ${number}" src="data:${output.type};base64,${output.base64}"></p>`;
      case 'note':
        return `<p class="cell-note">${escapeText(output.text)}</p>`;
      case 'markdown':
        return `<div class="cell-output">${this.#markdown(output.text)}</div>`;
      case 'html':
        return this.#html(output.text);
    }
  }

  /** Tables mostly. For output that needs its scripts a note is shown instead. */
  #html(source: string): string {
    const clean = sanitize(source.replaceAll('\0', '\ufffd'), this.#links);
    // Numbers in a table are not issue references.
    const html = fillPlaceholders(clean, (kind, content) => (kind === 'text' ? content : ''));
    const isEmpty = !/<(?:img|hr|input)\b/.test(html) && html.replace(/<[^<>]*>/g, '').trim() === '';
    if (isEmpty) return '<p class="cell-note">This output needs scripts, which are not run here.</p>';
    return `<div class="cell-output scroll" tabindex="0">${this.#withOwnIds(html)}</div>`;
  }

  #markdown(source: string): string {
    const { blocks, formulas, tasks } = this.parts;
    const own = renderParts(source, this.#links);
    const html = fillPlaceholders(own.html, (kind, content) => {
      const index = Number(content);
      switch (kind) {
        case 'code':
          return placeholder(kind, index + blocks.length);
        case 'formula':
          return placeholder(kind, index + formulas.length);
        case 'task':
        case 'linked-task':
          return placeholder(kind, index + tasks.length);
        case 'text':
          return placeholder(kind, content);
      }
    });
    blocks.push(...own.blocks);
    formulas.push(...own.formulas);
    tasks.push(...own.tasks);
    return this.#withOwnIds(html);
  }

  /** Two cells may have the same heading: the first one keeps its anchor. */
  #withOwnIds(html: string): string {
    this.markupLength += html.length;
    return html.replace(new RegExp(` id="(${anchorPrefix}[^"]*)"`, 'g'), (whole, id: string) => {
      if (this.#ids.has(id)) return '';
      this.#ids.add(id);
      return whole;
    });
  }
}

/** @param content escaped, or a placeholder */
const block = (kind: string, content: string): string =>
  `<pre tabindex="0" class="cell-block${kind}"><code>${content}</code></pre>`;
