import { parse } from 'smol-toml';

/**
 * The line of each key of a TOML text, by dotted name, sections included. The parser returns no positions, so it parses
 * growing prefixes: the line after the last prefix that parsed is where the next key starts. That follows the real
 * grammar (multi-line values, quoted keys, inline tables) without a second parser. Expects text that parses as a whole.
 */
export function locateTomlKeys(toml: string): ReadonlyMap<string, number> {
  const found = new Map<string, number>();
  const lines = toml.split(/\r?\n/);
  let parsedUpTo = 0;
  for (let count = 1; count <= lines.length; count++) {
    if (parsedUpTo === count - 1 && /^\s*(#.*)?$/.test(lines[count - 1]!)) {
      parsedUpTo = count;
      continue;
    }
    let beginning: unknown;
    try {
      beginning = parse(lines.slice(0, count).join('\n'));
    } catch {
      continue;
    }
    for (const name of dottedNames(beginning)) if (!found.has(name)) found.set(name, parsedUpTo + 1);
    parsedUpTo = count;
  }
  return found;
}

function* dottedNames(table: unknown, prefix = ''): Generator<string> {
  if (!isTable(table)) return;
  for (const [key, value] of Object.entries(table)) {
    yield prefix + key;
    yield* dottedNames(value, `${prefix}${key}.`);
  }
}

export function isTable(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value) && !(value instanceof Date);
}
