/** A line in a comparison of two texts. */
export interface DiffLine {
  kind: 'same' | 'added' | 'removed';
  text: string;
}

/** Maximum number of insertions and deletions; texts that differ more are shown one after the other. */
const maxEdits = 1_000;

/**
 * Compares two texts line by line with Myers' algorithm (An O(ND) Difference Algorithm, 1986). Its time grows with the
 * lines times the edits, so it runs in the worker pool.
 */
export function diffLines(before: string, after: string): DiffLine[] {
  const [old, fresh] = [before.split('\n'), after.split('\n')];
  let start = 0;
  while (start < old.length && start < fresh.length && old[start] === fresh[start]) start += 1;
  let end = 0;
  while (
    end < old.length - start &&
    end < fresh.length - start &&
    old[old.length - 1 - end] === fresh[fresh.length - 1 - end]
  )
    end += 1;
  const same = (lines: readonly string[]): DiffLine[] => lines.map((text) => ({ kind: 'same', text }));
  return [
    ...same(old.slice(0, start)),
    ...compareLines(old.slice(start, old.length - end), fresh.slice(start, fresh.length - end)),
    ...same(old.slice(old.length - end)),
  ];
}

function compareLines(old: readonly string[], fresh: readonly string[]): DiffLine[] {
  const replaced: DiffLine[] = [
    ...old.map((text): DiffLine => ({ kind: 'removed', text })),
    ...fresh.map((text): DiffLine => ({ kind: 'added', text })),
  ];
  if (old.length === 0 || fresh.length === 0) return replaced;
  const trace = shortestEdit(old, fresh);
  return trace === null ? replaced : walkBack(trace, old, fresh);
}

/** For each number of edits, the furthest position on each diagonal before it; null beyond `maxEdits`. */
function shortestEdit(old: readonly string[], fresh: readonly string[]): Int32Array[] | null {
  const most = Math.min(maxEdits, old.length + fresh.length);
  const furthest = new Int32Array(2 * most + 3);
  const middle = most + 1;
  const trace: Int32Array[] = [];
  for (let edits = 0; edits <= most; edits += 1) {
    // Keeps only the diagonals that this step may read: the sum over all steps stays a few megabytes.
    trace.push(furthest.slice(middle - edits - 1, middle + edits + 2));
    for (let diagonal = -edits; diagonal <= edits; diagonal += 2) {
      const isDown = goesDown(diagonal, edits, (k) => furthest[middle + k]!);
      let x = isDown ? furthest[middle + diagonal + 1]! : furthest[middle + diagonal - 1]! + 1;
      while (x < old.length && x - diagonal < fresh.length && old[x] === fresh[x - diagonal]) x += 1;
      furthest[middle + diagonal] = x;
      if (x >= old.length && x - diagonal >= fresh.length) return trace;
    }
  }
  return null;
}

/** Whether the best path to a diagonal is an insertion, from the diagonal above. */
const goesDown = (diagonal: number, edits: number, at: (diagonal: number) => number): boolean =>
  diagonal === -edits || (diagonal !== edits && at(diagonal - 1) < at(diagonal + 1));

function walkBack(trace: readonly Int32Array[], old: readonly string[], fresh: readonly string[]): DiffLine[] {
  const lines: DiffLine[] = [];
  let [x, y] = [old.length, fresh.length];
  for (let edits = trace.length - 1; edits > 0; edits -= 1) {
    const diagonal = x - y;
    const at = (k: number): number => trace[edits]![k + edits + 1]!;
    const isDown = goesDown(diagonal, edits, at);
    const fromX = at(isDown ? diagonal + 1 : diagonal - 1);
    const fromY = fromX - (isDown ? diagonal + 1 : diagonal - 1);
    while (x > fromX && y > fromY && (x > fromX + (isDown ? 0 : 1) || y > fromY + (isDown ? 1 : 0))) {
      x -= 1;
      y -= 1;
      lines.push({ kind: 'same', text: old[x]! });
    }
    if (isDown) lines.push({ kind: 'added', text: fresh[(y -= 1)]! });
    else lines.push({ kind: 'removed', text: old[(x -= 1)]! });
  }
  while (x > 0) {
    x -= 1;
    lines.push({ kind: 'same', text: old[x]! });
  }
  return lines.reverse();
}
