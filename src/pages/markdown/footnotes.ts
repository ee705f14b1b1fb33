import type { MarkdownIt } from 'markdown-it';
import { anchorPrefix } from './heading-anchors.ts';

const definition = /^\[\^([^\]\s]{1,60})\]:[ \t]*(.*)$/;
const reference = /\[\^([^\]\s]{1,60})\]/y;
const anyReference = new RegExp(reference.source, 'g');

interface Notes {
  texts: Map<string, string>;
  /** Labels in the order of their first mention. */
  order: string[];
}

/**
 * `[^1]` in the text and `[^1]: …` in a line of its own: numbered in the order of their
 * first mention, gathered at the end, with a way there and back.
 */
export function footnotes(markdown: MarkdownIt): void {
  markdown.block.ruler.before(
    'reference',
    'footnotes',
    (state, startLine, endLine, silent) => {
      const found = definition.exec(lineAt(state, startLine));
      if (!found) return false;
      if (silent) return true;
      const texts = [found[2]!];
      let line = startLine + 1;
      // What is indented below belongs to the note.
      while (line < endLine && state.sCount[line]! >= 4 && lineAt(state, line).trim() !== '')
        texts.push(lineAt(state, line++).trim());
      notesOf(state.env).texts.set(found[1]!, texts.join('\n'));
      state.line = line;
      return true;
    },
    { alt: ['paragraph', 'reference'] },
  );

  markdown.inline.ruler.before('link', 'footnote', (state, silent) => {
    reference.lastIndex = state.pos;
    const found = reference.exec(state.src);
    if (!found) return false;
    const { texts, order } = notesOf(state.env);
    if (!texts.has(found[1]!)) return false;
    if (!silent) {
      if (!order.includes(found[1]!)) order.push(found[1]!);
      const number = order.indexOf(found[1]!) + 1;
      const token = state.push('html_inline', '', 0);
      token.content = `<sup><a href="#note-${number}" id="${anchorPrefix}mention-${number}">${number}</a></sup>`;
    }
    state.pos += found[0].length;
    return true;
  });

  markdown.core.ruler.push('footnote_list', (state) => {
    const { order, texts } = notesOf(state.env);
    if (order.length === 0) return;
    const token = new state.Token('html_block', '', 0);
    const rows = order.map((label, index) => {
      const text = markdown.renderInline(texts.get(label)!.replace(anyReference, ''));
      return `<li id="${anchorPrefix}note-${index + 1}">${text} <a href="#mention-${index + 1}" title="Back">↩</a></li>`;
    });
    token.content = `<hr><ol>${rows.join('')}</ol>\n`;
    state.tokens.push(token);
  });
}

const lineAt = (state: { src: string; bMarks: number[]; tShift: number[]; eMarks: number[] }, line: number): string =>
  state.src.slice(state.bMarks[line]! + state.tShift[line]!, state.eMarks[line]);

/** By the environment that the renderer makes for each document. */
const notes = new WeakMap<object, Notes>();

function notesOf(env: object): Notes {
  const known = notes.get(env) ?? { texts: new Map(), order: [] };
  notes.set(env, known);
  return known;
}
