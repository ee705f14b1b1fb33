/** Larger files are shown as text: a table has a cell for every value. */
export const maxTableBytes = 512 * 1024;
const maxRows = 2_000;
const maxColumns = 100;

export interface CsvTable {
  head: string[];
  rows: string[][];
  /** Whether rows or columns were omitted. */
  isCut: boolean;
}

/** The separator of a table, by its file name; null for other files. */
export function tableSeparator(name: string): ',' | '\t' | null {
  if (/\.csv$/i.test(name)) return ',';
  return /\.tsv$/i.test(name) ? '\t' : null;
}

/**
 * A table of comma- or tab-separated values (RFC 4180): quotes around a value may contain separators and line breaks,
 * and a doubled quote is one. One pass over the text; keeps at most 2,000 rows and 100 columns. A file whose first line
 * has semicolons and no commas uses these as separator, as spreadsheets write it in many languages.
 *
 * Null if a quote is never closed, and for a single column: that is text.
 */
export function readCsv(text: string, separator: ',' | '\t'): CsvTable | null {
  const [first = ''] = text.split('\n', 1);
  const divider = separator === ',' && !first.includes(',') && first.includes(';') ? ';' : separator;
  const rows: string[][] = [];
  let [row, value, isQuoted, isCut]: [string[], string, boolean, boolean] = [[], '', false, false];
  const endValue = (): void => {
    if (row.length < maxColumns) row.push(value);
    else isCut = true;
    value = '';
  };
  for (let at = 0; at < text.length; at += 1) {
    const character = text[at]!;
    if (isQuoted) {
      if (character !== '"') value += character;
      else if (text[at + 1] === '"') value += text[(at += 1)]!;
      else isQuoted = false;
    } else if (character === '"' && value === '') {
      isQuoted = true;
    } else if (character === divider) {
      endValue();
    } else if (character === '\n') {
      value = value.replace(/\r$/, '');
      endValue();
      rows.push(row);
      row = [];
      if (rows.length > maxRows) return toTable(rows.slice(0, -1), true);
    } else {
      value += character;
    }
  }
  if (isQuoted) return null;
  if (value !== '' || row.length > 0) {
    endValue();
    rows.push(row);
  }
  return toTable(rows, isCut);
}

/** Rows shorter than the header are padded; a longer row makes the table wider. */
function toTable(rows: string[][], isCut: boolean): CsvTable | null {
  const width = rows.reduce((widest, row) => Math.max(widest, row.length), 0);
  const [head, ...body] = rows.map((row) => [...row, ...Array<string>(width - row.length).fill('')]);
  return head === undefined || width < 2 ? null : { head, rows: body, isCut };
}
