export interface LruOptions<Key, Value> {
  /** What is cached, in one or two words; the label of its metrics. */
  name: string;
  /** The largest sum of all weights, in the unit of `weigh`. */
  maxWeight: number;
  /** Entries at most, beside the weight; as many as fit when not given. */
  maxEntries?: number;
  /** The weight of an entry; 1 when not given, so that `maxWeight` counts entries. */
  weigh?: (value: Value, key: Key) => number;
  /** How long an entry is valid after it was set, in milliseconds; without it, entries do not expire. */
  ttlMs?: number;
  /** Called for each entry that leaves, whatever the reason. */
  onEvict?: (value: Value, key: Key) => void;
}

/** A cache that evicts the least recently used entry first. */
export interface Lru<Key, Value> {
  /** The value, which thereby becomes the most recently used. */
  get(key: Key): Value | undefined;
  /** The value, without effect on the order. */
  peek(key: Key): Value | undefined;
  /** Adds or replaces an entry. One that is heavier than the whole cache is not cached. */
  set(key: Key, value: Value): void;
  delete(key: Key): void;
  clear(): void;
  /** Keys from the least to the most recently used. */
  keys(): IterableIterator<Key>;
  readonly size: number;
  readonly weight: number;
}

export interface CacheStatistics {
  name: string;
  entries: number;
  weight: number;
  maxWeight: number;
  hits: number;
  misses: number;
}

interface Entry<Value> {
  value: Value;
  weight: number;
  expiresAt: number;
}

/** Caches of this process, for metrics; weak references, because tests create many. */
const caches = new Set<WeakRef<{ statistics(): CacheStatistics }>>();

/** Size, hits and misses of every cache; caches of the same name are added up. */
export function cacheStatistics(): CacheStatistics[] {
  const byName = new Map<string, CacheStatistics>();
  for (const reference of caches) {
    const cache = reference.deref();
    if (cache === undefined) {
      caches.delete(reference);
      continue;
    }
    const { name, ...counts } = cache.statistics();
    const sum = byName.get(name) ?? { name, entries: 0, weight: 0, maxWeight: 0, hits: 0, misses: 0 };
    for (const key of ['entries', 'weight', 'maxWeight', 'hits', 'misses'] as const) sum[key] += counts[key];
    byName.set(name, sum);
  }
  return [...byName.values()];
}

class LruCache<Key, Value> implements Lru<Key, Value> {
  readonly #options: LruOptions<Key, Value>;
  /** In order of use: a Map iterates in the order of insertion. */
  readonly #entries = new Map<Key, Entry<Value>>();
  #weight = 0;
  #hits = 0;
  #misses = 0;

  constructor(options: LruOptions<Key, Value>) {
    this.#options = options;
    caches.add(new WeakRef(this));
  }

  get(key: Key): Value | undefined {
    const entry = this.#current(key);
    if (entry === undefined) {
      this.#misses += 1;
      return undefined;
    }
    this.#hits += 1;
    this.#entries.delete(key);
    this.#entries.set(key, entry);
    return entry.value;
  }

  peek(key: Key): Value | undefined {
    return this.#current(key)?.value;
  }

  set(key: Key, value: Value): void {
    this.delete(key);
    const { weigh, ttlMs, maxWeight, maxEntries = Infinity } = this.#options;
    const weight = weigh === undefined ? 1 : weigh(value, key);
    if (weight > maxWeight) return this.#options.onEvict?.(value, key);
    const expiresAt = ttlMs === undefined ? Infinity : performance.now() + ttlMs;
    this.#entries.set(key, { value, weight, expiresAt });
    this.#weight += weight;
    for (const oldest of this.#entries.keys()) {
      if (this.#weight <= maxWeight && this.#entries.size <= maxEntries) break;
      this.delete(oldest);
    }
  }

  delete(key: Key): void {
    const entry = this.#entries.get(key);
    if (entry === undefined) return;
    this.#entries.delete(key);
    this.#weight -= entry.weight;
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

  statistics(): CacheStatistics {
    const { name, maxWeight } = this.#options;
    return { name, entries: this.size, weight: this.#weight, maxWeight, hits: this.#hits, misses: this.#misses };
  }

  #current(key: Key): Entry<Value> | undefined {
    const entry = this.#entries.get(key);
    // Most caches have no lifetime, and reading the clock costs as much as the look-up.
    if (entry === undefined || entry.expiresAt === Infinity || entry.expiresAt > performance.now()) return entry;
    this.delete(key);
    return undefined;
  }
}

export function createLru<Key, Value>(options: LruOptions<Key, Value>): Lru<Key, Value> {
  return new LruCache(options);
}
