import { hasBidiControls, lineHtml, showInvisibleCharacters } from '../app/code-html.ts';

/** A file line by line. Apart from rendered documents, the only HTML that templates print unescaped. */
interface CodeLinesView {
  html: string;
  count: number;
  /** Number of lines omitted because there are too many. */
  hidden: number;
  /** The text contains direction-changing characters. */
  hasTurningCharacters: boolean;
}

const maxLines = 20_000;

interface LineRange {
  first: number;
  last: number;
}

/** `?lines=10-20` or `?lines=10`; null for anything else. */
export function readLineRange(text: string | null): LineRange | null {
  const [, first = '', last = first] = /^L?(\d{1,7})(?:-L?(\d{1,7}))?$/.exec(text ?? '') ?? [];
  return first === ''
    ? null
    : { first: Math.min(Number(first), Number(last)), last: Math.max(Number(first), Number(last)) };
}

/** The lines of a text; text after the last line break is a line only when it is not empty. */
function linesOf(text: string): string[] {
  const lines = text.split('\n');
  if (lines.at(-1) === '') lines.pop();
  return lines;
}

/**
 * @param coloured the highlighted lines, or null
 * @param marked the lines that the URL selects
 * @param firstLine the number of the first line, where the text is a part of a file
 */
export function viewCodeLines(
  text: string,
  coloured: readonly string[] | null,
  marked: LineRange | null,
  firstLine = 1,
): CodeLinesView {
  // Memoised: the highlighter returns the same lines for the same file, and most readers mark none of them.
  const known = coloured && !marked ? made.get(coloured) : undefined;
  if (known) return known;
  const view = makeLines(text, coloured, marked, firstLine);
  if (coloured && !marked) made.set(coloured, view);
  return view;
}

const made = new WeakMap<readonly string[], CodeLinesView>();

function makeLines(
  text: string,
  coloured: readonly string[] | null,
  marked: LineRange | null,
  firstLine: number,
): CodeLinesView {
  const lines = linesOf(text);
  const rows = lines.slice(0, maxLines).map((line, index) => {
    const number = firstLine + index;
    const isMarked = marked !== null && number >= marked.first && number <= marked.last;
    const html =
      coloured?.[index] === undefined ? lineHtml(line) : showInvisibleCharacters(coloured[index].replace(/\r$/, ''));
    return `<span class="${isMarked ? 'line marked' : 'line'}"><a id="L${number}" href="#L${number}">${number}</a>${html}\n</span>`;
  });
  return {
    html: rows.join(''),
    count: lines.length,
    hidden: Math.max(0, lines.length - maxLines),
    hasTurningCharacters: hasBidiControls(text),
  };
}
