import { canonical, compareVersions } from './semantic-version.ts';

/** Size limit of a `go.mod` in Go, in bytes; also that of the LICENSE that Go adds. */
export const maxGoModBytes = 16 * 1024 * 1024;

const withoutComment = (line: string): string => line.replace(/\/\/.*$/, '').trim();

/** The path that a `go.mod` declares; empty if there is none. */
export function declaredPath(text: string): string {
  for (const line of text.split('\n')) {
    const [, path] = /^module\s+(.+)$/.exec(withoutComment(line)) ?? [];
    if (path === undefined) continue;
    if (!/^["`]/.test(path)) return path;
    return /^(["`])([^"`\\]*)\1$/.exec(path)?.[2] ?? '';
  }
  return '';
}

/** Directives with their arguments; those in parentheses one by one. */
function* directives(text: string): Generator<[word: string, rest: string]> {
  let block: string | null = null;
  for (const raw of text.split('\n')) {
    const line = withoutComment(raw);
    if (line === '') continue;
    if (block !== null && line === ')') block = null;
    else if (block !== null) yield [block, line];
    else {
      const [, word = '', rest = ''] = /^(\S+)\s*(.*)$/.exec(line) ?? [];
      if (rest === '(') block = word;
      else yield [word, rest];
    }
  }
}

/** Whether a `go.mod` requires a version of Go, or a later one. */
export function asksForGo(text: string, [major, minor]: readonly [number, number]): boolean {
  for (const [word, rest] of directives(text)) {
    const [, one, two] = word === 'go' ? (/^(\d+)\.(\d+)/.exec(rest) ?? []) : [];
    if (one !== undefined) return Number(one) > major || (Number(one) === major && Number(two) >= minor);
  }
  return false;
}

/** Whether a `go.mod` retracts a version (go.dev/ref/mod, "retract directive"). */
export function readRetractions(text: string): (version: string) => boolean {
  const ranges: [low: string, high: string][] = [];
  for (const [word, rest] of directives(text)) {
    if (word !== 'retract') continue;
    const named = rest.replace(/["`]/g, '');
    const [, low = named, high = named] = /^\[\s*([^\s,]+)\s*,\s*([^\s,\]]+)\s*\]$/.exec(named) ?? [];
    if (canonical(low) !== '' && canonical(high) !== '') ranges.push([low, high]);
  }
  return (version) =>
    ranges.some(([low, high]) => compareVersions(low, version) <= 0 && compareVersions(version, high) <= 0);
}
