import type { MarkdownIt } from 'markdown-it';
import { placeholder as markOf } from './placeholders.ts';
import { partsOf } from './markdown-env.ts';

const mark = /^\[([ xX])\][ \t\u00a0]/;
const maxLabelLength = 100;

/** Turns `- [x] done` into a list item with a checkbox, whose line in the source is recorded. */
export function taskLists(markdown: MarkdownIt): void {
  markdown.core.ruler.after('inline', 'task_lists', (state) => {
    const { tasks } = partsOf(state.env);
    state.tokens.forEach((token, index) => {
      const first = token.children?.[0];
      const isItem = token.type === 'inline' && state.tokens[index - 2]?.type === 'list_item_open';
      const found = isItem && first?.type === 'text' ? mark.exec(first.content) : null;
      if (!found || !first || !token.children) return;
      first.content = first.content.slice(3);
      const box = new state.Token('html_inline', '', 0);
      box.content = markOf('task', tasks.length);
      tasks.push({ line: token.map?.[0] ?? 0, isChecked: found[1] !== ' ', label: labelOf(token.content) });
      token.children.unshift(box);
      state.tokens[index - 2]?.attrJoin('class', 'task');
    });
  });
}

/** The text of the first line, without Markdown markup. */
const labelOf = (content: string): string =>
  content
    .slice(3, 3 + 2 * maxLabelLength)
    .split('\n', 1)[0]!
    .replace(/[`*_~<>[\]\0]/g, '')
    .trim()
    .slice(0, maxLabelLength);
