/** Size, hits and misses of one cache, or of all caches of one name. */
export interface CacheStatistics {
  name: string;
  entries: number;
  weight: number;
  maxWeight: number;
  hits: number;
  misses: number;
}

/** The part of a cache that the registry uses. */
export interface RegisteredCache {
  statistics(): CacheStatistics;
  /** Bytes that count towards the limit of the process; 0 for a cache that counts entries. */
  readonly sharedBytes: number;
  /** Last use of the least recently used entry, as counted by `nextUse`; Infinity for an empty cache. */
  oldestUse(): number;
  deleteOldest(): void;
  deleteExpired(): void;
}

/** Caches of this process; weak references, because tests create many. */
const caches = new Set<WeakRef<RegisteredCache>>();

let uses = 0;
let maxBytes = 24 * 1024 * 1024;
let heldBytes = 0;

export function registerCache(cache: RegisteredCache): void {
  caches.add(new WeakRef(cache));
}

/** A number for each use of an entry, by which the oldest entry of all caches is found. */
export const nextUse = (): number => (uses += 1);

/** Limit in bytes of all caches in this process. */
export const cachedBytesLimit = (): number => maxBytes;

/** Sets the limit and evicts the least recently used entries of all caches until the rest fits. */
export function limitCachedBytes(bytes: number): void {
  maxBytes = bytes;
  if (heldBytes > maxBytes) evict();
}

/** Total bytes of all caches in this process. */
export function cachedBytes(): number {
  heldBytes = live().reduce((sum, { sharedBytes }) => sum + sharedBytes, 0);
  return heldBytes;
}

/** A cache must call this whenever its size in bytes changes. */
export function countCachedBytes(change: number): void {
  heldBytes += change;
  if (change > 0 && heldBytes > maxBytes) evict();
}

/** Drops expired entries, which otherwise are removed on lookup or eviction. */
export function deleteExpiredEntries(): void {
  for (const cache of live()) cache.deleteExpired();
}

/** Empties all caches, as after a start, so that later responses are computed again. */
export function clearCaches(): void {
  for (const cache of live()) while (cache.oldestUse() < Infinity) cache.deleteOldest();
}

/** Size, hits and misses of every cache; sums up caches of the same name. */
export function cacheStatistics(): CacheStatistics[] {
  const byName = new Map<string, CacheStatistics>();
  for (const cache of live()) {
    const { name, ...counts } = cache.statistics();
    const sum = byName.get(name) ?? { name, entries: 0, weight: 0, maxWeight: 0, hits: 0, misses: 0 };
    for (const key of ['entries', 'weight', 'maxWeight', 'hits', 'misses'] as const) sum[key] += counts[key];
    byName.set(name, sum);
  }
  return [...byName.values()];
}

function live(): RegisteredCache[] {
  const found: RegisteredCache[] = [];
  for (const reference of caches) {
    const cache = reference.deref();
    if (cache === undefined) caches.delete(reference);
    else found.push(cache);
  }
  return found;
}

function evict(): void {
  const shared = live().filter(({ sharedBytes }) => sharedBytes > 0);
  // Recounted: caches that no longer exist hold nothing.
  heldBytes = shared.reduce((sum, cache) => sum + cache.sharedBytes, 0);
  while (heldBytes > maxBytes) {
    let oldest: RegisteredCache | undefined;
    let oldestUse = Infinity;
    for (const cache of shared) {
      const use = cache.oldestUse();
      if (use < oldestUse) [oldest, oldestUse] = [cache, use];
    }
    if (oldest === undefined) return;
    oldest.deleteOldest();
  }
}
