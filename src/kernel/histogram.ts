/** How often a figure was how large: what metrics say of durations. */
export interface Histogram {
  readonly count: number;
  /** Of all figures. */
  readonly sum: number;
  observe(value: number): void;
  /** For each bound, how many figures were at most as large. */
  atMost(): { bound: number; count: number }[];
}

/** @param bounds upper bounds, in rising order; whatever is above the last one is in `count` only */
export function createHistogram(bounds: readonly number[]): Histogram {
  const counts = bounds.map(() => 0);
  let [count, sum] = [0, 0];
  return {
    get count() {
      return count;
    },
    get sum() {
      return sum;
    },
    observe(value) {
      count += 1;
      sum += value;
      // Most figures are small: the first bound that holds one ends the search.
      const at = bounds.findIndex((bound) => value <= bound);
      if (at !== -1) counts[at]! += 1;
    },
    atMost() {
      let below = 0;
      return bounds.map((bound, at) => ({ bound, count: (below += counts[at]!) }));
    },
  };
}
