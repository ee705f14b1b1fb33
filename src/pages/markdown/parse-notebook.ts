/**
 * A Jupyter notebook (nbformat 4) prepared for display: texts are cut at limits, and none of its content is trusted
 * HTML.
 */
export interface Notebook {
  /** Language of the code, for the highlighter. */
  language: string;
  cells: Cell[];
  /** Whether cells or outputs were omitted. */
  isCut: boolean;
}

export type Cell =
  | { kind: 'markdown'; source: string }
  | { kind: 'raw'; source: string }
  /**
   * @param count the execution count, which Jupyter shows in brackets; empty if the cell was not run
   */
  | { kind: 'code'; source: string; count: string; outputs: Output[] };

export type Output =
  | { kind: 'text' | 'error' | 'html' | 'markdown'; text: string }
  /** Base64 with the signature of an image of this type. */
  | { kind: 'image'; type: ImageType; base64: string }
  /** The reason for an omission. */
  | { kind: 'note'; text: string };

const imageTypes = ['image/png', 'image/jpeg', 'image/gif'] as const;
type ImageType = (typeof imageTypes)[number];

/** The beginning of the base64 of each type. */
const magic: Readonly<Record<ImageType, string>> = {
  'image/png': 'iVBORw0KGgo',
  'image/jpeg': '/9j/',
  'image/gif': 'R0lGOD',
};

/** Limits in characters, except for the counts. */
const limits = {
  cells: 1_000,
  outputsOfCell: 50,
  textOfOutput: 32 * 1024,
  /** All Markdown and HTML, the expensive part. */
  markup: 256 * 1024,
  /** All code and text. */
  text: 1024 * 1024,
  images: 3 * 1024 * 1024,
};

type Fields = Record<string, unknown>;

const fieldsOf = (value: unknown): Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Fields) : {};

const listOf = (value: unknown): unknown[] => (Array.isArray(value) ? value : []);

/**
 * A field that is a text or an array of lines. NUL is removed, because it delimits our placeholders
 * (`placeholders.ts`).
 */
function textOf(value: unknown): string {
  const text = Array.isArray(value) ? value.filter((line) => typeof line === 'string').join('') : value;
  return typeof text === 'string' ? text.replaceAll('\0', '\ufffd') : '';
}

/** Removes terminal escape sequences and other control characters. */
const withoutControls = (text: string): string =>
  text
    .replace(/\x1b(?:\[[0-9;?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)?)/g, '')
    .replace(/[\x00-\x08\x0b-\x1f\x7f]/g, '');

/** The final state of a line: a carriage return restarts it, as progress bars do. */
function lastOfLine(line: string): string {
  let end = line.length;
  while (line[end - 1] === '\r') end -= 1;
  return end === 0 ? '' : line.slice(line.lastIndexOf('\r', end - 1) + 1, end);
}

const plain = (text: string): string => withoutControls(text.split('\n').map(lastOfLine).join('\n'));

/** Null unless the file is a notebook of format 4, which Jupyter writes since 2014. */
export function parseNotebook(source: string): Notebook | null {
  const file = parseJson(source);
  if (file === null || file['nbformat'] !== 4 || !Array.isArray(file['cells'])) return null;
  const metadata = fieldsOf(file['metadata']);
  const named = fieldsOf(metadata['language_info'])['name'] ?? fieldsOf(metadata['kernelspec'])['language'];
  const language = typeof named === 'string' && /^[\w+#-]{1,30}$/.test(named) ? named.toLowerCase() : 'python';
  const budget = new Budget();
  const cells = file['cells'].slice(0, limits.cells).flatMap((cell) => readCell(fieldsOf(cell), budget) ?? []);
  return { language, cells, isCut: budget.isExceeded || file['cells'].length > limits.cells };
}

function parseJson(source: string): Fields | null {
  try {
    return fieldsOf(JSON.parse(source));
  } catch {
    return null;
  }
}

/** The remaining limits of a notebook. */
class Budget {
  readonly #left = { markup: limits.markup, text: limits.text, images: limits.images };
  isExceeded = false;

  /** Whether this amount still fits; after a refusal a smaller one may still fit. */
  take(kind: 'markup' | 'text' | 'images', length: number): boolean {
    const fits = length <= this.#left[kind];
    if (fits) this.#left[kind] -= length;
    else this.isExceeded = true;
    return fits;
  }
}

function readCell(cell: Fields, budget: Budget): Cell | null {
  const kind = cell['cell_type'];
  const source = textOf(cell['source']);
  if (kind === 'markdown') return budget.take('markup', source.length) ? { kind, source } : null;
  if (kind !== 'raw' && kind !== 'code') return null;
  if (!budget.take('text', source.length)) return null;
  if (kind === 'raw') return { kind, source };
  const count = cell['execution_count'];
  const given = listOf(cell['outputs']);
  const outputs = given.slice(0, limits.outputsOfCell).map((output) => readOutput(fieldsOf(output), budget));
  if (given.length > outputs.length)
    outputs.push({ kind: 'note', text: `${given.length - outputs.length} more outputs are not shown.` });
  return { kind, source, count: Number.isSafeInteger(count) ? String(count) : '', outputs };
}

function readOutput(output: Fields, budget: Budget): Output {
  switch (output['output_type']) {
    case 'stream':
      return textOutput('text', textOf(output['text']), budget);
    case 'error': {
      const trace = listOf(output['traceback']).map(textOf).join('\n');
      return textOutput('error', trace || `${textOf(output['ename'])}: ${textOf(output['evalue'])}`, budget);
    }
    case 'execute_result':
    case 'display_data':
      return readData(fieldsOf(output['data']), budget);
    default:
      return { kind: 'note', text: 'An output of an unknown kind is not shown.' };
  }
}

/** One of the representations of an output: an image, else a table, else text, else markup. */
function readData(data: Fields, budget: Budget): Output {
  for (const type of imageTypes) {
    const base64 = textOf(data[type]).replace(/\s/g, '');
    if (base64.startsWith(magic[type]) && /^[A-Za-z0-9+/]+={0,2}$/.test(base64))
      return budget.take('images', base64.length)
        ? { kind: 'image', type, base64 }
        : { kind: 'note', text: 'An image is too large to show here.' };
  }
  const [html, markdown, latex, text] = ['text/html', 'text/markdown', 'text/latex', 'text/plain'].map((type) =>
    textOf(data[type!]),
  ) as [string, string, string, string];
  const mayTake = (markup: string): boolean => markup !== '' && budget.take('markup', markup.length);
  if ((text === '' || /<table[\s>]/i.test(html)) && mayTake(html)) return { kind: 'html', text: html };
  if (mayTake(markdown)) return { kind: 'markdown', text: markdown };
  if (mayTake(latex)) return { kind: 'markdown', text: latex };
  if (text !== '') return textOutput('text', text, budget);
  const types = Object.keys(data).map((type) => type.replace(/[^\w/+.-]/g, '').slice(0, 60));
  return { kind: 'note', text: `Output of the type ${types.slice(0, 5).join(', ') || 'unknown'} is not shown.` };
}

function textOutput(kind: 'text' | 'error', whole: string, budget: Budget): Output {
  const isLong = whole.length > limits.textOfOutput;
  const text = plain(isLong ? whole.slice(0, limits.textOfOutput) : whole);
  if (!budget.take('text', text.length)) return { kind: 'note', text: 'The rest of the output is not shown.' };
  return { kind, text: isLong ? `${text}\n… ${whole.length - limits.textOfOutput} more characters` : text };
}
