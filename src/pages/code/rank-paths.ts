import { visitAll } from '../../kernel/index.ts';

/** Matching paths, the best first, and their total number. */
interface RankedPaths {
  paths: Buffer[];
  total: number;
}

/**
 * Paths that contain the letters of `wanted` in this order, ignoring case. Better: consecutive letters, in the file
 * name, at the beginning of a word; then the shorter path.
 */
export async function rankPaths(paths: readonly Buffer[], wanted: string, limit: number): Promise<RankedPaths> {
  const letters = wanted.toLowerCase().replace(/\s+/g, '');
  if (letters === '') return { paths: paths.slice(0, limit), total: paths.length };
  const found: { path: Buffer; score: number }[] = [];
  await visitAll(paths, (path) => {
    const score = scoreOf(path.toString().toLowerCase(), letters);
    if (score !== null) found.push({ path, score });
  });
  found.sort((a, b) => b.score - a.score || a.path.length - b.path.length || Buffer.compare(a.path, b.path));
  return { paths: found.slice(0, limit).map(({ path }) => path), total: found.length };
}

function scoreOf(path: string, letters: string): number | null {
  const nameStart = path.lastIndexOf('/') + 1;
  const inName = path.indexOf(letters, nameStart);
  if (inName !== -1)
    return (
      1_000 +
      (inName === nameStart ? 100 : isWordStart(path, inName) ? 50 : 0) +
      (path.length - nameStart === letters.length ? 100 : 0)
    );
  const whole = path.indexOf(letters);
  if (whole !== -1) return 500 + (isWordStart(path, whole) ? 50 : 0);
  let score = 0;
  let at = 0;
  let last = -2;
  for (const letter of letters) {
    at = path.indexOf(letter, at);
    if (at === -1) return null;
    score += (at === last + 1 ? 4 : 0) + (isWordStart(path, at) ? 3 : 0) + (at >= nameStart ? 1 : 0);
    last = at;
    at += 1;
  }
  return score;
}

const isWordStart = (path: string, at: number): boolean => at === 0 || /[/._\- ]/.test(path[at - 1]!);
