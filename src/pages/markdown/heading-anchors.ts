import type { MarkdownIt } from 'markdown-it';

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
      token.attrSet('id', `${anchorPrefix}${slug}${count === 0 ? '' : `-${count}`}`);
    });
  });
}
