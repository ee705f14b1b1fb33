import { cachedBytesLimit, countCachedBytes, nextUse, registerCache } from './cache-registry.ts';
import type { CacheStatistics, RegisteredCache } from './cache-registry.ts';

interface LruOptions<Key, Value> {
  /** Name of the cached data, in one or two words; the label of its metrics. */
  name: string;
  /** Limit of the sum of all weights, in the unit of `weigh`. */
  maxWeight: number;
  /** Limit of entries, besides the weight; unlimited by default. */
  maxEntries?: number;
  /** The weight of an entry; 1 by default, so that `maxWeight` counts entries. */
  weigh?: (value: Value, key: Key) => number;
  /** `bytes` if `weigh` returns bytes: the shared limit of all caches also applies. */
  unit?: 'bytes';
  /** Time that an entry is valid after it was set, in milliseconds; by default, entries do not expire. */
  ttlMs?: number;
  /** Called for each removed entry, for any reason. */
  onEvict?: (value: Value, key: Key) => void;
}

/** A cache that evicts the least recently used entry first. */
export interface Lru<Key, Value> {
  /** The value, which becomes the most recently used. */
  get(key: Key): Value | undefined;
  /** The value, without effect on the order. */
  peek(key: Key): Value | undefined;
  /** Adds or replaces an entry. Does not cache one heavier than the whole cache. */
  set(key: Key, value: Value): void;
  delete(key: Key): void;
  clear(): void;
  /** Keys from the least to the most recently used. */
  keys(): IterableIterator<Key>;
  readonly size: number;
  readonly weight: number;
}

interface Entry<Value> {
  value: Value;
  weight: number;
  expiresAt: number;
  usedAt: number;
}

class LruCache<Key, Value> implements Lru<Key, Value>, RegisteredCache {
  readonly #options: LruOptions<Key, Value>;
  /** In order of use: a Map iterates in the order of insertion. */
  readonly #entries = new Map<Key, Entry<Value>>();
  #weight = 0;
  #hits = 0;
  #misses = 0;

  constructor(options: LruOptions<Key, Value>) {
    this.#options = options;
    registerCache(this);
  }

  get(key: Key): Value | undefined {
    const entry = this.#current(key);
    if (entry === undefined) {
      this.#misses += 1;
      return undefined;
    }
    this.#hits += 1;
    entry.usedAt = nextUse();
    this.#entries.delete(key);
    this.#entries.set(key, entry);
    return entry.value;
  }

  peek(key: Key): Value | undefined {
    return this.#current(key)?.value;
  }

  set(key: Key, value: Value): void {
    this.delete(key);
    const { weigh, ttlMs, unit, maxWeight, maxEntries = Infinity } = this.#options;
    const weight = weigh === undefined ? 1 : weigh(value, key);
    const heaviest = unit === 'bytes' ? Math.min(maxWeight, cachedBytesLimit()) : maxWeight;
    if (weight > heaviest) return this.#options.onEvict?.(value, key);
    // This cache shrinks first, others only by the remaining excess.
    for (const oldest of this.#entries.keys()) {
      if (this.#weight + weight <= maxWeight && this.#entries.size < maxEntries) break;
      this.delete(oldest);
    }
    const expiresAt = ttlMs === undefined ? Infinity : performance.now() + ttlMs;
    this.#entries.set(key, { value, weight, expiresAt, usedAt: nextUse() });
    this.#add(weight);
  }

  delete(key: Key): void {
    const entry = this.#entries.get(key);
    if (entry === undefined) return;
    this.#entries.delete(key);
    this.#add(-entry.weight);
    this.#options.onEvict?.(entry.value, key);
  }

  clear(): void {
    for (const key of [...this.#entries.keys()]) this.delete(key);
  }

  keys(): IterableIterator<Key> {
    return this.#entries.keys();
  }

  get size(): number {
    return this.#entries.size;
  }

  get weight(): number {
    return this.#weight;
  }

  get sharedBytes(): number {
    return this.#options.unit === 'bytes' ? this.#weight : 0;
  }

  oldestUse(): number {
    for (const { usedAt } of this.#entries.values()) return usedAt;
    return Infinity;
  }

  deleteOldest(): void {
    for (const key of this.#entries.keys()) return this.delete(key);
  }

  deleteExpired(): void {
    if (this.#options.ttlMs === undefined) return;
    for (const key of [...this.#entries.keys()]) this.#current(key);
  }

  statistics(): CacheStatistics {
    const { name, maxWeight } = this.#options;
    return { name, entries: this.size, weight: this.#weight, maxWeight, hits: this.#hits, misses: this.#misses };
  }

  #add(weight: number): void {
    this.#weight += weight;
    if (this.#options.unit === 'bytes') countCachedBytes(weight);
  }

  #current(key: Key): Entry<Value> | undefined {
    const entry = this.#entries.get(key);
    // Most caches have no TTL, and reading the clock costs as much as the lookup.
    if (entry === undefined || entry.expiresAt === Infinity || entry.expiresAt > performance.now()) return entry;
    this.delete(key);
    return undefined;
  }
}

export function createLru<Key, Value>(options: LruOptions<Key, Value>): Lru<Key, Value> {
  return new LruCache(options);
}
