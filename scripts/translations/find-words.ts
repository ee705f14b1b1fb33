import { globSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';

interface Token {
  type: string;
  val?: unknown;
  name?: string;
  args?: string | null;
  attrs?: string;
  code?: string;
  loc: { start: { line: number } };
}

// The lexer of pug itself, so that nothing is misread.
const lex = createRequire(createRequire(import.meta.url).resolve('pug'))('pug-lexer') as (text: string) => Token[];

/** Attributes that people see or hear. */
const shown = new Set(['aria-label', 'title', 'placeholder', 'alt', 'aria-description', 'aria-roledescription']);
/** Attributes whose strings of several words are for machines. */
const machine = /^(?:class|style|d|rel|sizes|autocomplete|aria-labelledby|aria-describedby|viewBox|content|pattern)$/;

/** Names and notations that are the same in every language. */
const names =
  /\b(?:owner\/name|noopener|noreferrer|nofollow|Hearth|CI|SSH|GPG|HTTPS?|SHA(?:-256)?|sha256|URL|ID|LFS|API|ActivityPub|ActivityPub\/JSON|OpenID|OAuth2?|Markdown|Atom|RSS|YAML|TOML|JSON|ZIP|UTC|KiB|MiB|GiB|git|npm|rebase|fast-forward|HEAD|x|px)\b|&[a-z]+;|https?:\/\/\S*|\b[\w.+-]+@[\w.-]+|\b[\w-]+(?:\.[\w-]+)*\.example\.org\S*|\bexample\.org\S*/g;

const hasWords = (text: string): boolean => /\p{L}{2}/u.test(text.replace(names, ''));
/** A literal of an expression that people read: it begins like a sentence or has several words. */
export const isProse = (text: string): boolean =>
  hasWords(text) && (/^\s*\p{Lu}\p{Ll}+/u.test(text) || /\p{L}[,.:]? \p{L}/u.test(text) || /^\s|\s$/.test(text));

/** The literals of an expression, without keys of messages and what holes of templates have. */
function literals(expression: string): string[] {
  const found: string[] = [];
  const without = expression.replace(/\b(?:t|rich)\(\s*'[^']*'/g, '');
  for (const [, one, two, three] of without.matchAll(/'((?:[^'\\]|\\.)*)'|"((?:[^"\\]|\\.)*)"|`((?:[^`\\]|\\.)*)`/g)) {
    const text = one ?? two;
    if (text !== undefined) found.push(text);
    else {
      found.push(three!.replace(/\$\{[^}]*\}/g, '0'));
      for (const [, hole] of three!.matchAll(/\$\{([^}]*)\}/g)) found.push(...literals(hole!));
    }
  }
  return found;
}

/**
 * Words of a template that are in no catalogue.
 * @returns `line: words`, in the order of the file
 */
export function wordsOfTemplate(text: string): string[] {
  const found: string[] = [];
  let depth = 0;
  /** The depth of the element whose text is code; null outside of one. */
  let codeDepth: number | null = null;
  let inComment = false;
  /** Lines of a block of text (`code.`) end no element. */
  let inBlock = false;
  for (const token of lex(text)) {
    const report = (words: string): void =>
      void found.push(`${token.loc.start.line}: ${words.trim().replace(/\s+/g, ' ')}`);
    const { type, name = '', val } = token;
    if (type === 'comment') inComment = true;
    if (type === 'newline' || type === 'eos') inComment = false;
    if (type === 'indent') depth += 1;
    if (type === 'outdent') depth -= 1;
    if (type === 'start-pipeless-text') inBlock = true;
    if (type === 'end-pipeless-text') inBlock = false;
    if (
      !inBlock &&
      /^(?:newline|outdent|end-pug-interpolation)$/.test(type) &&
      codeDepth !== null &&
      depth <= codeDepth
    )
      codeDepth = null;
    if (type === 'tag' && (val === 'code' || val === 'kbd')) codeDepth ??= depth;
    if (type === 'text' && !inComment && codeDepth === null && hasWords(String(val))) report(String(val));
    if (type === 'attribute' && typeof val === 'string') {
      const isShown = shown.has(name);
      for (const words of machine.test(name) ? [] : literals(val))
        if (isShown ? hasWords(words) : isProse(words)) report(words);
    }
    const expression = [type === 'call' ? (token.args ?? '') : '', type === 'attribute' ? '' : codeOf(token)].join(' ');
    for (const words of literals(expression)) if (isProse(words)) report(words);
  }
  return found;
}

const codeOf = ({ type, val, code }: Token): string =>
  /^(?:code|interpolated-code|if|else-if|case|when|while)$/.test(type)
    ? String(val ?? '')
    : type === 'each'
      ? String(code ?? '')
      : '';

/** Words in all templates of a project that are in no catalogue: `file:line: words`. */
export const wordsOfTemplates = (project: string): string[] =>
  globSync('templates/**/*.pug', { cwd: project })
    .sort()
    .flatMap((file) => wordsOfTemplate(readFileSync(join(project, file), 'utf8')).map((line) => `${file}:${line}`));
