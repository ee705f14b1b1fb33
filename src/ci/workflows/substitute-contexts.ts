import type { Json } from './json-value.ts';
import { splitText } from './evaluate.ts';

/** Contexts that only the server knows, by name; their values are written into expressions. */
export type KnownContexts = ReadonlyMap<string, { readonly [name: string]: Json }>;

/** A quoted text, a name, or one other character. */
const tokens = /'(?:[^']|'')*'|[A-Za-z_][\w-]*|[^]/g;
/** `.name` or `['name']` after a context. */
const member = /^\s*(?:\.\s*([A-Za-z_][\w-]*)|\[\s*'((?:[^']|'')*)'\s*\])/;
const opensCall = /^\s*\(/;
const goesOn = /^\s*[.[]/;

/**
 * Writes the values of contexts into the expressions of a text. Runners know neither the inputs of a called workflow,
 * unless they get a different event, nor the position of a job in its matrix.
 */
export function substituteContexts(text: string, contexts: KnownContexts): string {
  if (!mentions(text, contexts) || !text.includes('${{')) return text;
  try {
    return splitText(text)
      .map((part) => (part.isExpression ? `\${{ ${substituteInExpression(part.text, contexts)} }}` : part.text))
      .join('');
  } catch {
    // The expression is not closed; the runner reports it.
    return text;
  }
}

/** Does the same for an `if`, which may be an expression without `${{ }}`. */
export const substituteInCondition = (text: string, contexts: KnownContexts): string =>
  text.includes('${{') ? substituteContexts(text, contexts) : substituteInExpression(text, contexts);

const mentions = (text: string, contexts: KnownContexts): boolean => {
  const folded = text.toLowerCase();
  return [...contexts.keys()].some((name) => folded.includes(name));
};

function substituteInExpression(expression: string, contexts: KnownContexts): string {
  if (!mentions(expression, contexts)) return expression;
  let written = '';
  let before = '';
  tokens.lastIndex = 0;
  for (let found = tokens.exec(expression); found !== null; found = tokens.exec(expression)) {
    const [token] = found;
    const rest = expression.slice(tokens.lastIndex, tokens.lastIndex + 300);
    const values = before === '.' || opensCall.test(rest) ? undefined : contexts.get(token.toLowerCase());
    if (token.trim() !== '') before = token;
    if (values === undefined) {
      written += token;
      continue;
    }
    const [matched = '', plain, quoted] = member.exec(rest) ?? [];
    const name = plain ?? quoted?.replaceAll("''", "'");
    const value = name === undefined ? undefined : valueOf(values, name);
    const isWhole = value === undefined || goesOn.test(rest.slice(matched.length));
    written += isWhole ? fromJson(values) : literal(value);
    if (!isWhole) tokens.lastIndex += matched.length;
  }
  return written;
}

/** Names ignore case; a missing name has the value null. */
function valueOf(values: { readonly [name: string]: Json }, name: string): Json {
  const own = Object.keys(values).find((one) => one.toLowerCase() === name.toLowerCase());
  return own === undefined ? null : values[own]!;
}

function literal(value: Json): string {
  if (value === null || typeof value === 'boolean') return String(value);
  if (typeof value === 'number' && /^\d+(?:\.\d+)?$/.test(String(value))) return String(value);
  if (typeof value === 'string' && !/[{}\r\n]/.test(value)) return `'${value.replaceAll("'", "''")}'`;
  return fromJson(value);
}

/** Escapes braces and quotes, so that no reader takes them for the end of the expression. */
const fromJson = (value: Json): string => {
  const json = JSON.stringify(value).replaceAll("'", '\\u0027');
  // Keeps the braces of an object; escapes those in its texts.
  const escaped = json.replace(/"(?:[^"\\]|\\.)*"/g, (one) =>
    one.replaceAll('{', '\\u007b').replaceAll('}', '\\u007d'),
  );
  return `fromJSON('${escaped.replaceAll('}}', '} }')}')`;
};
