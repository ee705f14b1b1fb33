import type { MarkdownIt } from 'markdown-it';

const mark = /^\[([ xX])\][ \u00a0]/;

/** Turns `- [x] done` into a list item with a check-box that nobody can click. */
export function taskLists(markdown: MarkdownIt): void {
  markdown.core.ruler.after('inline', 'task_lists', (state) => {
    state.tokens.forEach((token, index) => {
      const first = token.children?.[0];
      const isItem = token.type === 'inline' && state.tokens[index - 2]?.type === 'list_item_open';
      const found = isItem && first?.type === 'text' ? mark.exec(first.content) : null;
      if (!found || !first || !token.children) return;
      first.content = first.content.slice(3);
      const box = new state.Token('html_inline', '', 0);
      box.content = `<input type="checkbox" disabled${found[1] === ' ' ? '' : ' checked'}>`;
      token.children.unshift(box);
      state.tokens[index - 2]?.attrJoin('class', 'task');
    });
  });
}
