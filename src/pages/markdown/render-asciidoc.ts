import { LoggerManager, NullLogger, convert } from '@asciidoctor/core';
import { AsciidocConverter } from './asciidoc-converter.ts';
import type { DocumentLinks } from './document-links.ts';
import type { RenderedMarkdown } from './rendered-markdown.ts';
import { sanitize } from './sanitize.ts';

// Warnings about a document concern its author, not the server log.
LoggerManager.setLogger(new NullLogger());

/**
 * AsciiDoc as HTML that is safe to put into a page, with the placeholders of `renderParts`. Asciidoctor runs in its
 * safest mode: it reads no file and no URL, `include::` becomes a link, and attribute values have a limit. Its output,
 * passthroughs included, goes through the allowlist (security C02).
 */
export async function renderAsciidoc(source: string, links: DocumentLinks): Promise<RenderedMarkdown> {
  const converter = new AsciidocConverter('html5');
  const html = await convert(source.replaceAll('\0', '\ufffd'), {
    safe: 'secure',
    converter,
    // Links to other documents keep their extension, and headings have anchors as in Markdown.
    attributes: { showtitle: '', relfilesuffix: '.adoc', idprefix: '', idseparator: '-', 'table-caption!': '' },
  });
  const { blocks, formulas } = converter;
  return { html: sanitize(withTitles(String(html)), links), blocks, formulas, tasks: [] };
}

/** A block title is a class in Asciidoctor's HTML, and pages drop all classes of documents. */
const withTitles = (html: string): string =>
  html.replace(/<div class="title">([^\n]*)<\/div>\n/g, '<p><strong>$1</strong></p>\n');
