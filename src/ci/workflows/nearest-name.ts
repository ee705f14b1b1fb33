/** The known name that was probably intended; null if none is similar. */
export function nearestName(written: string, names: readonly string[]): string | null {
  const text = written.toLowerCase();
  // Longer than any known name, and expensive to compare.
  if (text.length > 40) return null;
  const begun = text.length < 3 ? [] : names.filter((name) => name.toLowerCase().startsWith(text));
  if (begun.length === 1) return begun[0]!;
  let best: { name: string; distance: number } | null = null;
  for (const name of names) {
    const distance = distanceOf(text, name.toLowerCase());
    if (best === null || distance < best.distance) best = { name, distance };
  }
  return best !== null && best.distance <= Math.max(1, Math.floor(text.length / 3)) ? best.name : null;
}

/** Counts insertions, deletions, replacements and swaps of neighbours (optimal string alignment). */
function distanceOf(a: string, b: string): number {
  let [older, old] = [[] as number[], Array.from({ length: b.length + 1 }, (_, at) => at)];
  for (let i = 1; i <= a.length; i += 1) {
    const row = [i];
    for (let j = 1; j <= b.length; j += 1) {
      const cost = a[i - 1] === b[j - 1] ? 0 : 1;
      let least = Math.min(row[j - 1]! + 1, old[j]! + 1, old[j - 1]! + cost);
      if (i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1]) least = Math.min(least, older[j - 2]! + 1);
      row.push(least);
    }
    [older, old] = [old, row];
  }
  return old[b.length]!;
}
