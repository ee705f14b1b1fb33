/** Edit distance between `a` and `b`: insertions, deletions, substitutions, and swaps of neighbours. */
function editDistance(a: string, b: string): number {
  let beforeLast: number[] = [];
  let last = Array.from({ length: b.length + 1 }, (_, index) => index);
  for (let i = 1; i <= a.length; i++) {
    const row = [i];
    for (let j = 1; j <= b.length; j++) {
      const cost = a[i - 1] === b[j - 1] ? 0 : 1;
      let best = Math.min(last[j]! + 1, row[j - 1]! + 1, last[j - 1]! + cost);
      if (a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1]) best = Math.min(best, (beforeLast[j - 2] ?? best) + 1);
      row.push(best);
    }
    [beforeLast, last] = [last, row];
  }
  return last[b.length]!;
}

/**
 * The known name nearest to `name`, or null if none is near. A correct name in the wrong section counts as near:
 * `server.listen` → `http.listen`.
 */
export function nearestName(name: string, known: readonly string[]): string | null {
  let best: { name: string; distance: number } | null = null;
  for (const candidate of known) {
    const distance = editDistance(name.toLowerCase(), candidate.toLowerCase());
    if (best === null || distance < best.distance) best = { name: candidate, distance };
  }
  if (best !== null && best.distance <= Math.max(2, Math.floor(name.length / 4))) return best.name;
  const leaf = name.slice(name.lastIndexOf('.') + 1);
  return known.find((candidate) => candidate === leaf || candidate.endsWith(`.${leaf}`)) ?? null;
}
