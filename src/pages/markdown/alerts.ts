import type { MarkdownIt } from 'markdown-it';

const kinds = ['note', 'tip', 'important', 'warning', 'caution'] as const;
const mark = /^\[!(note|tip|important|warning|caution)\][ \t]*(?:\n|$)/i;

/** Turns a quotation that begins with `[!NOTE]` or a similar keyword into a box with that title. */
export function alerts(markdown: MarkdownIt): void {
  markdown.core.ruler.after('block', 'alerts', (state) => {
    state.tokens.forEach((token, index) => {
      const [paragraph, inline] = [state.tokens[index + 1], state.tokens[index + 2]];
      if (token.type !== 'blockquote_open' || paragraph?.type !== 'paragraph_open' || inline?.type !== 'inline') return;
      const found = mark.exec(inline.content);
      const kind = kinds.find((each) => each === found?.[1]?.toLowerCase());
      if (!found || kind === undefined) return;
      token.attrSet('class', `alert-${kind}`);
      inline.content = `**${kind[0]!.toUpperCase()}${kind.slice(1)}**\n\n${inline.content.slice(found[0].length)}`
        .replace('\n\n', '  \n')
        .trimEnd();
    });
  });
}
