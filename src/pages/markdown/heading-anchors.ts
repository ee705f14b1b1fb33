import type { MarkdownIt } from 'markdown-it';
import { fillPlaceholders, unescapeHtml } from './placeholders.ts';

/** Separates ids of documents from the ids of our own pages. */
export const anchorPrefix = 'user-content-';

/** `Getting started!` → `getting-started`, with the rules of other forges, so that tables of contents work. */
function slugOf(heading: string): string {
  return heading
    .trim()
    .toLowerCase()
    .replace(/[^\p{L}\p{M}\p{N}\p{Pc}\- ]/gu, '')
    .replaceAll(' ', '-');
}

/** The id of a heading, with a number if `count` others have the same words. */
const anchorOf = (slug: string, count: number): string => `${anchorPrefix}${slug}${count === 0 ? '' : `-${count}`}`;

/** Gives each heading an id; a repeated one gets a number. */
export function headingAnchors(markdown: MarkdownIt): void {
  markdown.core.ruler.push('heading_anchors', (state) => {
    const seen = new Map<string, number>();
    state.tokens.forEach((token, index) => {
      if (token.type !== 'heading_open') return;
      const slug = slugOf(state.tokens[index + 1]?.content ?? '');
      if (slug === '') return;
      const count = seen.get(slug) ?? 0;
      seen.set(slug, count + 1);
      token.attrSet('id', anchorOf(slug, count));
    });
  });
}

/** A heading without an id, in the sanitiser's output, which closes every element. */
const bareHeading = /<(h[2-6])((?: class="[^"<>]*")?)>([^]*?)<\/\1>/g;

/** Gives each heading that was written as HTML an id, as `headingAnchors` does for those in Markdown. */
export function anchorHtmlHeadings(html: string): string {
  let taken: Set<string> | null = null;
  const counts = new Map<string, number>();
  return html.replace(bareHeading, (whole, tag: string, rest: string, content: string) => {
    const shown = fillPlaceholders(content, (kind, text) => (kind === 'text' ? text : ''));
    const slug = slugOf(unescapeHtml(shown.replace(/<[^<>]*>/g, ''))).slice(0, 200);
    if (slug === '') return whole;
    taken ??= new Set(Array.from(html.matchAll(/ id="([^"<>]*)"/g), ([, id = '']) => id));
    let count = counts.get(slug) ?? 0;
    while (taken.has(anchorOf(slug, count))) count += 1;
    const id = anchorOf(slug, count);
    counts.set(slug, count + 1);
    taken.add(id);
    return `<${tag} id="${id}"${rest}>${content}</${tag}>`;
  });
}
