import type { RefListing } from '../../git/index.ts';
import { visitAll } from '../../kernel/index.ts';

/** Created at first use: it loads all locales. */
let byNumbers: Intl.Collator | undefined;
const unfinished = /^[-._~]?(?:rc|alpha|beta|pre|dev|a\d|b\d)/i;

/** Orders `v1.9` before `v1.10`; `v2.0-rc1` before `v2.0`, and that before `v2.0.1`. */
export function compareVersions(a: string, b: string): number {
  if (a.startsWith(b) && unfinished.test(a.slice(b.length))) return -1;
  if (b.startsWith(a) && unfinished.test(b.slice(a.length))) return 1;
  return compareFirstDigits(a, b) || (byNumbers ??= new Intl.Collator('en', { numeric: true })).compare(a, b);
}

const isDigit = (code: number): boolean => code >= 48 && code <= 57;

/**
 * The result of the collation where the first difference of two names is in a number, which is nearly always, at a
 * twentieth of its cost.
 * @returns 0 where the collation must decide
 */
function compareFirstDigits(a: string, b: string): number {
  const length = Math.min(a.length, b.length);
  let at = 0;
  while (at < length && a.charCodeAt(at) === b.charCodeAt(at)) {
    if (a.charCodeAt(at) > 126) return 0;
    at += 1;
  }
  if (at === length || !isDigit(a.charCodeAt(at)) || !isDigit(b.charCodeAt(at))) return 0;
  // Leading zeros do not count.
  let begin = at;
  while (begin > 0 && isDigit(a.charCodeAt(begin - 1))) begin -= 1;
  if (a.charCodeAt(begin) === 48 || b.charCodeAt(begin) === 48) return 0;
  let [endOfA, endOfB] = [at, at];
  while (isDigit(a.charCodeAt(endOfA))) endOfA += 1;
  while (isDigit(b.charCodeAt(endOfB))) endOfB += 1;
  if (endOfA - begin > mostDigits || endOfB - begin > mostDigits) return 0;
  return endOfA - endOfB || a.charCodeAt(at) - b.charCodeAt(at);
}

/** The collation splits longer numbers. */
const mostDigits = 200;

const compareNames = (a: string, b: string): number => compareVersions(b, a) || (a < b ? 1 : a > b ? -1 : 0);

/** The newest tags of each ref listing, which every code page shows. */
const known = new WeakMap<RefListing, string[]>();
const keptNames = 31;

/**
 * The newest tags by version, descending, at most the requested number. Scans all names, in time slices, once for each
 * listing and the first page; sorts only the best.
 * @param after tags older than this name, which need not exist
 */
export async function newestVersions(refs: RefListing, count: number, after: string | null = null): Promise<string[]> {
  const first = after === null && count <= keptNames;
  const found = (first ? known.get(refs) : undefined) ?? (await select(refs, first ? keptNames : count, after));
  if (first) known.set(refs, found);
  return found.slice(0, count);
}

async function select(refs: RefListing, count: number, after: string | null): Promise<string[]> {
  const best: string[] = [];
  // Starts with the last name: it is often the newest, and then each other name needs one comparison.
  await visitAll(refs.namesFromLast('refs/tags/'), (name) => {
    const last = best[count - 1];
    if (last !== undefined && compareNames(name, last) >= 0) return;
    if (after !== null && compareNames(name, after) <= 0) return;
    let [low, high] = [0, best.length];
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (compareNames(best[middle]!, name) < 0) low = middle + 1;
      else high = middle;
    }
    best.splice(low, 0, name);
    best.length = Math.min(best.length, count);
  });
  return best;
}
