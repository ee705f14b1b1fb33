import { LoggerManager, NullLogger, convert } from '@asciidoctor/core';
import { AsciidocConverter } from './asciidoc-converter.ts';
import type { DocumentLinks } from './document-links.ts';
import type { RenderedMarkdown } from './rendered-markdown.ts';
import { sanitize } from './sanitize.ts';

// Warnings about a document are for its author, not for the log of a server.
LoggerManager.setLogger(new NullLogger());

/**
 * AsciiDoc as HTML that is safe to put into a page, with the placeholders of `renderParts`. Asciidoctor runs in its
 * safest mode: it reads no file and no address, `include::` is a link, and values of attributes have a limit. What it
 * writes, passthroughs included, goes through the allowlist (security C02).
 */
export async function renderAsciidoc(source: string, links: DocumentLinks): Promise<RenderedMarkdown> {
  const converter = new AsciidocConverter('html5');
  const html = await convert(source.replaceAll('\0', '\ufffd'), {
    safe: 'secure',
    converter,
    // Other documents keep their ending, and headings have addresses as in Markdown.
    attributes: { showtitle: '', relfilesuffix: '.adoc', idprefix: '', idseparator: '-', 'table-caption!': '' },
  });
  const { blocks, formulas } = converter;
  return { html: sanitize(withTitles(String(html)), links), blocks, formulas, tasks: [] };
}

/** A title of a block is a class in Asciidoctor's HTML, and pages keep none of a document's. */
const withTitles = (html: string): string =>
  html.replace(/<div class="title">([^\n]*)<\/div>\n/g, '<p><strong>$1</strong></p>\n');
