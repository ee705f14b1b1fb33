/** Size, hits and misses of one cache, or of all caches of one name. */
export interface CacheStatistics {
  name: string;
  entries: number;
  weight: number;
  maxWeight: number;
  hits: number;
  misses: number;
}

/** What the registry needs of a cache. */
export interface RegisteredCache {
  statistics(): CacheStatistics;
  /** Bytes that count towards the limit of the process; 0 for a cache that counts entries. */
  readonly sharedBytes: number;
  /** When the least recently used entry was used, as `nextUse` counted; Infinity for an empty cache. */
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

/** A number for each use of an entry, so that the oldest entry of all caches can be found. */
export const nextUse = (): number => (uses += 1);

/** Limit in bytes of everything that the caches of this process hold together. */
export const cachedBytesLimit = (): number => maxBytes;

/** Sets the limit and evicts, over all caches, what was not used for longest until the rest fits. */
export function limitCachedBytes(bytes: number): void {
  maxBytes = bytes;
  if (heldBytes > maxBytes) evict();
}

/** Bytes that the caches of this process hold together. */
export function cachedBytes(): number {
  heldBytes = live().reduce((sum, { sharedBytes }) => sum + sharedBytes, 0);
  return heldBytes;
}

/** To be called by a cache whenever its bytes have changed. */
export function countCachedBytes(change: number): void {
  heldBytes += change;
  if (change > 0 && heldBytes > maxBytes) evict();
}

/** Drops entries whose lifetime is over, which otherwise leave when they are looked up or evicted. */
export function deleteExpiredEntries(): void {
  for (const cache of live()) cache.deleteExpired();
}

/** Empties all caches, as after a start: what is answered then was made anew. */
export function clearCaches(): void {
  for (const cache of live()) while (cache.oldestUse() < Infinity) cache.deleteOldest();
}

/** Size, hits and misses of every cache; caches of the same name are added up. */
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
  // Counted anew: caches that no longer exist hold nothing.
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
