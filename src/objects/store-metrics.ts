import { createHistogram } from '../kernel/index.ts';
import type { Histogram } from '../kernel/index.ts';

/** Requests to a store by verb, for metrics. */
export interface StoreMetrics {
  /**
   * @param tookMs duration of the whole request with its retries, up to the head of the response
   */
  observe(verb: string, result: 'ok' | 'failed', tookMs: number): void;
  retried(verb: string): void;
  /** Bytes of objects sent to the store or received from it. */
  moved(direction: 'in' | 'out', bytes: number): void;
  /** An object whose bytes were not the stored ones. */
  damaged(): void;
  snapshot(): StoreStatistics;
}

export interface StoreStatistics {
  verbs: { verb: string; ok: number; failed: number; retried: number; seconds: Histogram }[];
  bytesIn: number;
  bytesOut: number;
  damaged: number;
}

const bounds = [0.005, 0.02, 0.1, 0.5, 2, 10, 60];

export function createStoreMetrics(): StoreMetrics {
  const verbs = new Map<string, StoreStatistics['verbs'][number]>();
  const sums = { bytesIn: 0, bytesOut: 0, damaged: 0 };
  const of = (verb: string): StoreStatistics['verbs'][number] => {
    const known = verbs.get(verb) ?? { verb, ok: 0, failed: 0, retried: 0, seconds: createHistogram(bounds) };
    verbs.set(verb, known);
    return known;
  };
  return {
    observe(verb, result, tookMs) {
      const counts = of(verb);
      counts[result] += 1;
      counts.seconds.observe(tookMs / 1000);
    },
    retried: (verb) => void (of(verb).retried += 1),
    moved: (direction, bytes) => void (sums[direction === 'in' ? 'bytesIn' : 'bytesOut'] += bytes),
    damaged: () => void (sums.damaged += 1),
    snapshot: () => ({ verbs: [...verbs.values()], ...sums }),
  };
}
