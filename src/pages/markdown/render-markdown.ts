import MarkdownIt from 'markdown-it';
import { alerts } from './alerts.ts';
import { codeBlocks } from './code-blocks.ts';
import { partsOf } from './markdown-env.ts';
import type { DocumentLinks } from './document-links.ts';
import { footnotes } from './footnotes.ts';
import { mathSyntax } from './math-syntax.ts';
import { headingAnchors } from './heading-anchors.ts';
import { replacePlaceholders, plainFills } from './rendered-markdown.ts';
import type { RenderedMarkdown } from './rendered-markdown.ts';
import { sanitize } from './sanitize.ts';
import { taskLists } from './task-lists.ts';

const markdown = new MarkdownIt({ html: true, linkify: true });
// Only what is written as an address becomes a link: `config.rs` is a file, not a host.
markdown.linkify.set({ fuzzyLink: false, fuzzyEmail: false });
markdown.use(headingAnchors).use(taskLists).use(alerts).use(footnotes).use(codeBlocks).use(mathSyntax);
// A wide table scrolls in a box of its own.
markdown.renderer.rules['table_open'] = () => '<div class="scroll"><table>\n';
markdown.renderer.rules['table_close'] = () => '</table></div>\n';
markdown.renderer.rules['formula'] = (tokens, index) => tokens[index]!.content;

/**
 * Markdown as HTML that is safe to put into a page: rendered first, cleaned afterwards, so that whatever the renderer
 * or an HTML block produced passes the same allowlist (security C02). What is inserted later is a placeholder.
 */
export function renderParts(source: string, links: DocumentLinks): RenderedMarkdown {
  const env = {};
  const html = sanitize(markdown.render(source, env), links);
  return { ...partsOf(env), html };
}

/** The same as one text, without highlighting, MathML and references. */
export const renderMarkdown = (source: string, links: DocumentLinks): string =>
  replacePlaceholders(renderParts(source, links), plainFills);
