import { createHistogram } from '../kernel/index.ts';

/** What a use of a repository found of its folder; with a failure, what it would have been does not matter. */
const results = ['hit', 'behind', 'cold', 'failed'] as const;
type Use = (typeof results)[number];

const bounds = [0.01, 0.05, 0.1, 0.5, 1, 5, 10, 30, 60, 300];

/** Folders of repositories that are in the store, since the start of this process. */
export interface CacheStatistics {
  /**
   * Uses by what they found: a current folder (`hit`), one that had to catch up (`behind`), none (`cold`), or a store
   * that could not be read (`failed`).
   */
  uses: Readonly<Record<Use, number>>;
  /** How long it took to make folders current that were not. */
  seconds: ReturnType<typeof createHistogram>;
  /** Bytes of packs and indexes that came from the store. */
  fetchedBytes: number;
  /** Folders that were removed for the limit. */
  evictions: number;
  /** Size of all folders, when it was looked at last; null before the first look. */
  bytes: number | null;
  /** Null before the first look. */
  limitBytes: number | null;
  /** Changes of refs that were refused because the ref had moved meanwhile. */
  refConflicts: number;
}

export interface CacheMetrics {
  read(): CacheStatistics;
  hit(): void;
  /** @param isCold whether there was no folder */
  fetched(isCold: boolean, tookMs: number): void;
  failed(): void;
  downloaded(bytes: number): void;
  measured(now: { removed: number; bytes: number; limit: number }): void;
  conflicts(count: number): void;
}

export function createCacheMetrics(): CacheMetrics {
  const uses: Record<Use, number> = { hit: 0, behind: 0, cold: 0, failed: 0 };
  const seconds = createHistogram(bounds);
  const sums = { fetchedBytes: 0, evictions: 0, refConflicts: 0 };
  let [bytes, limitBytes]: [number | null, number | null] = [null, null];
  return {
    read: () => ({ uses: { ...uses }, seconds, ...sums, bytes, limitBytes }),
    hit: () => void (uses.hit += 1),
    fetched(isCold, tookMs) {
      uses[isCold ? 'cold' : 'behind'] += 1;
      seconds.observe(tookMs / 1000);
    },
    failed: () => void (uses.failed += 1),
    downloaded: (count) => void (sums.fetchedBytes += count),
    measured(now) {
      sums.evictions += now.removed;
      [bytes, limitBytes] = [now.bytes, now.limit];
    },
    conflicts: (count) => void (sums.refConflicts += count),
  };
}
