/** A histogram of a metric. */
export interface Histogram {
  readonly count: number;
  /** Sum of all observed values. */
  readonly sum: number;
  observe(value: number): void;
  /** Cumulative number of values up to each bound. */
  buckets(): { bound: number; count: number }[];
}

/** @param bounds upper bounds in ascending order; values above the last one are in `count` only */
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
      // Most values are small: the search ends at the first bound that contains one.
      const at = bounds.findIndex((bound) => value <= bound);
      if (at !== -1) counts[at]! += 1;
    },
    buckets() {
      let below = 0;
      return bounds.map((bound, at) => ({ bound, count: (below += counts[at]!) }));
    },
  };
}
