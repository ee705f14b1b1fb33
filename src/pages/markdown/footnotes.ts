import type { MarkdownIt } from 'markdown-it';
import { anchorPrefix } from './heading-anchors.ts';

const definition = /^\[\^([^\]\s]{1,60})\]:[ \t]*(.*)$/;
const reference = /\[\^([^\]\s]{1,60})\]/y;
const anyReference = new RegExp(reference.source, 'g');

interface Notes {
  texts: Map<string, string>;
  /** Number of references to each label, in the order of the first reference. */
  mentions: Map<string, { number: number; count: number }>;
}

/**
 * `[^1]` in the text and `[^1]: …` on its own line: numbered by first reference, collected at the end, with links in
 * both directions.
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
      // The indented lines below belong to the note.
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
    const { texts, mentions } = notesOf(state.env);
    const label = found[1]!;
    if (!texts.has(label)) return false;
    if (!silent) {
      const note = mentions.get(label) ?? { number: mentions.size + 1, count: 0 };
      mentions.set(label, note);
      note.count += 1;
      const { number } = note;
      const token = state.push('html_inline', '', 0);
      token.content = `<sup><a href="#note-${number}" id="${anchorPrefix}${mentionId(number, note.count)}">${number}</a></sup>`;
    }
    state.pos += found[0].length;
    return true;
  });

  markdown.core.ruler.push('footnote_list', (state) => {
    const { mentions, texts } = notesOf(state.env);
    if (mentions.size === 0) return;
    const token = new state.Token('html_block', '', 0);
    // A copy: references inside footnotes do not add notes.
    const rows = [...mentions].map(([label, { number, count }]) => {
      const text = markdown.renderInline(texts.get(label)!.replace(anyReference, ''));
      return `<li id="${anchorPrefix}note-${number}">${text} ${waysBack(number, count)}</li>`;
    });
    token.content = `<hr><ol>${rows.join('')}</ol>\n`;
    state.tokens.push(token);
  });
}

/** The first reference has the plain id, others a numbered one. */
const mentionId = (number: number, time: number): string => `mention-${number}${time === 1 ? '' : `-${time}`}`;

/** More links back would not help readers. */
const maxWaysBack = 20;

const waysBack = (number: number, count: number): string =>
  Array.from(
    { length: Math.min(count, maxWaysBack) },
    (_, at) => `<a href="#${mentionId(number, at + 1)}" title="Back">↩${at === 0 ? '' : `<sup>${at + 1}</sup>`}</a>`,
  ).join(' ');

const lineAt = (state: { src: string; bMarks: number[]; tShift: number[]; eMarks: number[] }, line: number): string =>
  state.src.slice(state.bMarks[line]! + state.tShift[line]!, state.eMarks[line]);

/** Keyed by the renderer's environment, which is new for each document. */
const notes = new WeakMap<object, Notes>();

function notesOf(env: object): Notes {
  const known = notes.get(env) ?? { texts: new Map(), mentions: new Map() };
  notes.set(env, known);
  return known;
}
