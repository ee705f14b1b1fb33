import { invalid } from '../../kernel/index.ts';

/** A parsed code search query. */
export interface CodeQuery {
  /** One line of literal text, or a regular expression; empty if there are only qualifiers. */
  text: string;
  isPattern: boolean;
  /** Whether the search is case-sensitive. */
  isExact: boolean;
  /** Names of repositories, `owner/name` or `name`; any may match. */
  repositories: { owner: string | null; name: string }[];
  /** Usernames or organisations; any may match. */
  owners: string[];
  /** Parts of paths, case-insensitive; `*` matches anything. All must match. */
  paths: string[];
  /** Names of languages; any may match. */
  languages: string[];
}

/** Limit of qualifiers of one kind. */
const maxOfKind = 10;
const qualifier = /(?<![^\s])(repo|owner|user|org|path|lang|language|case):(?:"([^"]*)"|(\S+))/gi;

const plain = (text: string): CodeQuery => ({
  text,
  isPattern: false,
  isExact: false,
  repositories: [],
  owners: [],
  paths: [],
  languages: [],
});

/**
 * Parses `repo:`, `owner:`, `path:`, `lang:` and `case:` in a query; the rest is searched literally, or as a regular
 * expression if between slashes. A quoted query that contains a qualifier is literal text. Throws `invalid_pattern` for
 * too many of them.
 */
export function parseCodeQuery(query: string): CodeQuery {
  const quoted = /^"(.*)"$/s.exec(query.trim())?.[1];
  if (quoted !== undefined && quoted.match(qualifier) !== null) return plain(quoted);
  const found = plain('');
  const rest = query.replace(qualifier, (whole, name: string, inQuotes?: string, word?: string) => {
    const value = (inQuotes ?? word ?? '').trim();
    if (value === '') return whole;
    add(found, name.toLowerCase(), value);
    return ' ';
  });
  const text = rest === query ? query : rest.trim();
  const pattern = /^\/(.+)\/$/s.exec(text.trim())?.[1];
  for (const list of [found.repositories, found.owners, found.paths, found.languages])
    if (list.length > maxOfKind)
      throw invalid('invalid_pattern', `At most ${maxOfKind} qualifiers of one kind are allowed.`, { field: 'q' });
  return pattern === undefined ? { ...found, text } : { ...found, text: pattern, isPattern: true };
}

function add(query: CodeQuery, name: string, value: string): void {
  switch (name) {
    case 'repo': {
      const [first = '', second] = value.split('/', 2);
      query.repositories.push(second === undefined ? { owner: null, name: first } : { owner: first, name: second });
      break;
    }
    case 'path':
      query.paths.push(value);
      break;
    case 'lang':
    case 'language':
      query.languages.push(value);
      break;
    case 'case':
      query.isExact = /^(?:yes|true|1|sensitive)$/i.test(value);
      break;
    default:
      query.owners.push(value);
  }
}

/**
 * The longest text contained in every match of a regular expression, for the index; empty if there may be none. Only
 * counts characters outside of groups and brackets that are not optional.
 */
export function literalOf(pattern: string): string {
  if (pattern.includes('|')) return '';
  const runs: string[] = [''];
  let depth = 0;
  for (let at = 0; at < pattern.length; at += 1) {
    const character = pattern[at]!;
    if (character === '[') {
      const end = pattern.indexOf(']', pattern[at + 1] === '^' ? at + 3 : at + 2);
      if (end === -1) return '';
      at = end;
      runs.push('');
    } else if (character === '(') {
      depth += 1;
      runs.push('');
    } else if (character === ')') {
      depth -= 1;
      runs.push('');
    } else if (character === '*' || character === '?' || character === '{' || character === '+') {
      // The preceding character is optional or repeated.
      const run = runs.at(-1)!;
      runs[runs.length - 1] = character === '+' ? run : run.slice(0, -1);
      if (character === '{') at = Math.max(at, pattern.indexOf('}', at));
      runs.push('');
    } else if (character === '.' || character === '^' || character === '$') runs.push('');
    else if (character === '\\') {
      at += 1;
      const next = pattern[at] ?? '';
      if (/[A-Za-z0-9]/.test(next)) runs.push('');
      else if (depth === 0) runs[runs.length - 1] += next;
    } else if (depth === 0) runs[runs.length - 1] += character;
  }
  return runs.reduce((longest, run) => (run.length > longest.length ? run : longest), '');
}
