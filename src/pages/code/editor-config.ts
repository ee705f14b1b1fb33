/** The settings of `.editorconfig` for a file (editorconfig.org); undefined where it sets nothing. */
export interface EditorConfig {
  endOfLine?: 'lf' | 'crlf';
  insertFinalNewline?: boolean;
  trimTrailingWhitespace?: boolean;
  charset?: string;
  indentStyle?: 'tab' | 'space';
  /** Columns of one level; `tab` counts as unset. */
  indentSize?: number | undefined;
  /** Columns of a tab, if set explicitly. */
  tabWidth?: number | undefined;
}

/** Columns of a tab; defaults to those of one level. */
export const tabWidthOf = ({ tabWidth, indentSize }: EditorConfig): number | undefined => tabWidth ?? indentSize;

const charsets = new Set(['latin1', 'utf-8', 'utf-8-bom', 'utf-16be', 'utf-16le']);

/** Wider tabs would not be readable. */
const maxColumns = 16;

/** A file and its folder, '' for the root. */
export interface EditorConfigFile {
  folder: string;
  text: string;
}

/**
 * Limits on a file: comparing a section with a path takes time that grows with the product of their lengths. Real
 * settings are smaller.
 */
const limits = { sections: 100, pattern: 200, alternatives: 30, path: 1_000 };

/**
 * @param files the nearest first; a file with `root = true` ends the search
 */
export function editorConfigOf(files: readonly EditorConfigFile[], path: string): EditorConfig {
  const config: EditorConfig = {};
  if (path.length > limits.path) return config;
  const counting: EditorConfigFile[] = [];
  for (const file of files) {
    counting.unshift(file);
    if (isRoot(file.text)) break;
  }
  for (const { folder, text } of counting) {
    const inside = folder === '' ? path : path.slice(folder.length + 1);
    for (const [name, value] of pairsFor(text, inside)) apply(config, name, value);
  }
  return config;
}

function isRoot(text: string): boolean {
  for (const line of text.split('\n')) {
    if (/^\s*\[/.test(line)) return false;
    if (/^\s*root\s*=\s*true\s*$/i.test(line)) return true;
  }
  return false;
}

function* pairsFor(text: string, path: string): Generator<[name: string, value: string]> {
  let applies = false;
  let sections = 0;
  for (const raw of text.split('\n')) {
    const line = raw.trim();
    if (line === '' || line.startsWith('#') || line.startsWith(';')) continue;
    if (line.startsWith('[') && line.endsWith(']')) {
      sections += 1;
      if (sections > limits.sections) return;
      applies = matches(line.slice(1, -1), path);
      continue;
    }
    const equals = line.indexOf('=');
    if (applies && equals > 0)
      yield [
        line.slice(0, equals).trim().toLowerCase(),
        line
          .slice(equals + 1)
          .trim()
          .toLowerCase(),
      ];
  }
}

function apply(config: EditorConfig, name: string, value: string): void {
  if (name === 'end_of_line' && (value === 'lf' || value === 'crlf')) config.endOfLine = value;
  if (name === 'insert_final_newline' && (value === 'true' || value === 'false'))
    config.insertFinalNewline = value === 'true';
  if (name === 'trim_trailing_whitespace' && (value === 'true' || value === 'false'))
    config.trimTrailingWhitespace = value === 'true';
  if (name === 'charset' && charsets.has(value)) config.charset = value;
  if (name === 'indent_style' && (value === 'tab' || value === 'space')) config.indentStyle = value;
  const columns = /^\d{1,2}$/.test(value) ? Number(value) : 0;
  const isWidth = columns >= 1 && columns <= maxColumns;
  if (name === 'indent_size' && (isWidth || value === 'tab' || value === 'unset'))
    config.indentSize = isWidth ? columns : undefined;
  if (name === 'tab_width' && (isWidth || value === 'unset')) config.tabWidth = isWidth ? columns : undefined;
}

/** Whether a section matches a path: a section without a slash matches names in all folders below. */
function matches(section: string, path: string): boolean {
  if (section.length > limits.pattern) return false;
  const isAnchored = section.includes('/');
  return alternativesOf(section).some((pattern) => {
    const plain = pattern.replace(/^\//, '');
    return matchGlob(isAnchored ? plain : `**/${plain}`, path) || (!isAnchored && matchGlob(plain, path));
  });
}

/** `*.{js,ts}` as `*.js` and `*.ts`, one level deep; `{1..3}` as its numbers. */
function alternativesOf(section: string): string[] {
  const [, before, inside, after] = /^([^{}]*)\{([^{}]*)\}(.*)$/s.exec(section) ?? [];
  if (before === undefined || inside === undefined || after === undefined) return [section];
  const [, from, to] = /^(-?\d{1,4})\.\.(-?\d{1,4})$/.exec(inside) ?? [];
  const options =
    from === undefined || to === undefined
      ? inside.split(',')
      : Array.from({ length: Math.max(0, Math.min(limits.alternatives, Number(to) - Number(from) + 1)) }, (_, at) =>
          String(Number(from) + at),
        );
  const rests = alternativesOf(after);
  return options.flatMap((option) => rests.map((rest) => before + option + rest)).slice(0, limits.alternatives);
}

/**
 * Matches a pattern with `*`, `**`, `?` and `[…]` against a path, by two rows of the table at a time: no pattern takes
 * longer than the product of the lengths.
 */
function matchGlob(pattern: string, path: string): boolean {
  let row = new Uint8Array(path.length + 1);
  row[0] = 1;
  for (let at = 0; at < pattern.length; ) {
    const next = new Uint8Array(path.length + 1);
    const isDeep = pattern.startsWith('**', at);
    if (isDeep || pattern[at] === '*') {
      for (let to = 0; to <= path.length; to += 1)
        next[to] = row[to]! | (to > 0 && (isDeep || path[to - 1] !== '/') ? next[to - 1]! : 0);
      at += isDeep ? 2 : 1;
      row = next;
      continue;
    }
    const set = classAt(pattern, at);
    const single = pattern[at] === '\\' && at + 1 < pattern.length ? pattern[at + 1]! : pattern[at]!;
    for (let to = 1; to <= path.length; to += 1) {
      const character = path[to - 1]!;
      const fits =
        set !== null
          ? character !== '/' && set.characters.includes(character) !== set.isNegated
          : pattern[at] === '?'
            ? character !== '/'
            : character === single;
      if (row[to - 1] === 1 && fits) next[to] = 1;
    }
    at += set !== null ? set.length : pattern[at] === '\\' && at + 1 < pattern.length ? 2 : 1;
    row = next;
  }
  return row[path.length] === 1;
}

function classAt(pattern: string, at: number): { characters: string; isNegated: boolean; length: number } | null {
  if (pattern[at] !== '[') return null;
  const end = pattern.indexOf(']', at + 2);
  if (end === -1) return null;
  const isNegated = pattern[at + 1] === '!';
  return { characters: pattern.slice(at + (isNegated ? 2 : 1), end), isNegated, length: end - at + 1 };
}
