import MarkdownIt from 'markdown-it';
import { alerts } from './alerts.ts';
import type { DocumentLinks } from './document-links.ts';
import { footnotes } from './footnotes.ts';
import { headingAnchors } from './heading-anchors.ts';
import { sanitize } from './sanitize.ts';
import { taskLists } from './task-lists.ts';

const markdown = new MarkdownIt({ html: true, linkify: true });
// Only what is written as an address becomes a link: `config.rs` is a file, not a host.
markdown.linkify.set({ fuzzyLink: false, fuzzyEmail: false });
markdown.use(headingAnchors).use(taskLists).use(alerts).use(footnotes);
// A wide table scrolls in a box of its own.
markdown.renderer.rules['table_open'] = () => '<div class="scroll"><table>\n';
markdown.renderer.rules['table_close'] = () => '</table></div>\n';

/**
 * Markdown from a repository as HTML that is safe to put into a page: rendered
 * first, cleaned afterwards, so that whatever the renderer or an HTML block
 * produced passes the same allowlist (security C02).
 */
export function renderMarkdown(source: string, links: DocumentLinks): string {
  return sanitize(markdown.render(source, {}), links);
}
