import { escapeControls } from '../terminal/escape-controls.ts';

/**
 * The second line of defence of the log: callers never pass secrets; any that slip through are redacted here, by field
 * name or by pattern.
 */
const secretName = /authori[sz]ation|cookie|passw(or)?d|passphrase|secret|private_?key|(^|[a-z_-])token$|^token$/i;
const secretLooks: readonly [RegExp, string][] = [
  [/hth_[A-Za-z0-9_-]+/g, 'hth_[redacted]'],
  [/\b(Basic|Bearer)\s+[A-Za-z0-9._~+/=-]+/gi, '$1 [redacted]'],
  // As a scheme only: "token" occurs in ordinary text.
  [/\b(Authorization["']?\s*[:=]\s*["']?token)\s+[^\s"']+/gi, '$1 [redacted]'],
  [/([?&](?:token|code|password)=)[^&\s"']+/gi, '$1[redacted]'],
  [/(\/\/)[^/\s:@]+:[^/\s@]+@/g, '$1[redacted]@'],
  [/-----BEGIN [A-Z ]*PRIVATE KEY-----[\s\S]*?(-----END [A-Z ]*PRIVATE KEY-----|$)/g, '[redacted private key]'],
];

const maxDepth = 6;
const maxEntries = 100;
const maxStringLength = 2_000;

/** A copy of log fields that is safe to write: no secrets, no control characters, bounded in depth and length. */
export function redactFields(fields: Readonly<Record<string, unknown>>): Record<string, unknown> {
  return redactObject(fields, 0);
}

/** A cheap pre-check for these patterns, since most log text contains none. */
const mayContainSecret = /hth_|basic|bearer|authorization|[?&](?:token|code|password)=|\/\/|PRIVATE KEY/i;

export function redactText(text: string): string {
  let clean = text;
  if (mayContainSecret.test(text))
    for (const [pattern, replacement] of secretLooks) clean = clean.replace(pattern, replacement);
  const shown =
    clean.length > maxStringLength ? `${clean.slice(0, maxStringLength)}… (${clean.length} characters)` : clean;
  return escapeControls(shown.toWellFormed());
}

function redactObject(object: object, depth: number): Record<string, unknown> {
  const result: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(object).slice(0, maxEntries)) {
    const isSecret = secretName.test(name) && value !== null && value !== undefined && typeof value !== 'boolean';
    result[redactText(name)] = isSecret ? '[redacted]' : redactValue(value, depth + 1);
  }
  return result;
}

function redactValue(value: unknown, depth: number): unknown {
  if (typeof value === 'string') return redactText(value);
  if (typeof value === 'bigint') return String(value);
  if (typeof value === 'function' || typeof value === 'symbol') return `[${typeof value}]`;
  if (typeof value !== 'object' || value === null) return value;
  if (value instanceof Date) return value.toJSON();
  if (value instanceof Uint8Array) return `[${value.byteLength} bytes]`;
  if (depth > maxDepth) return '[deeper]';
  if (value instanceof Error) return redactError(value, depth);
  if (Array.isArray(value)) return value.slice(0, maxEntries).map((entry) => redactValue(entry, depth + 1));
  if (value instanceof Map) return redactObject(Object.fromEntries(value) as object, depth);
  if (value instanceof Set) return redactValue([...value], depth);
  return redactObject(value, depth);
}

/** Name, message, code, cause and stack of an error; the stack is a list, so that it contains no line breaks. */
function redactError(error: Error, depth: number): Record<string, unknown> {
  const { name, message, stack, cause, ...own } = error;
  return {
    name,
    message: redactText(message),
    ...redactObject(own, depth),
    ...(stack === undefined
      ? {}
      : {
          stack: stack
            .split('\n')
            .slice(1, 16)
            .map((line) => redactText(line.trim())),
        }),
    ...(cause === undefined ? {} : { cause: redactValue(cause, depth + 1) }),
  };
}
