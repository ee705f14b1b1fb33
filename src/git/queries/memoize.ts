import { createLru } from '../../kernel/index.ts';

/** Bounds of the cache. */
interface Memory<Args extends unknown[], Result> {
  maxBytes: number;
  /** What a result takes in memory, in bytes; its key is counted besides. */
  weigh: (result: Result) => number;
  /** Defaults to all arguments. */
  keyOf?: (...args: Args) => unknown[];
}

interface Memoized<Args extends unknown[], Result> {
  (...args: Args): Promise<Result>;
  /** Caches what another query has found for these arguments. */
  put(result: Result, ...args: Args): void;
}

/** What an entry takes besides its key and its result. */
const entryBytes = 200;

/** Buffers as text: one character per byte. */
const keyText = (parts: unknown[]): string =>
  JSON.stringify(parts, (_name, value: unknown) =>
    isBytes(value) ? Buffer.from(value.data).toString('latin1') : value,
  );

/** How a buffer arrives in a replacer of JSON. */
const isBytes = (value: unknown): value is { data: number[] } =>
  typeof value === 'object' && value !== null && 'type' in value && value.type === 'Buffer';

/**
 * Memoizes a function in an LRU cache. For queries whose result never changes, because every name in them is an object
 * id. Concurrent equal calls share one result; failures are not cached.
 */
export function memoize<Args extends unknown[], Result>(
  load: (...args: Args) => Promise<Result>,
  { maxBytes, weigh, keyOf = (...args) => args }: Memory<Args, Result>,
): Memoized<Args, Result> {
  const entries = createLru<string, { result: Promise<Result>; weight: number }>({
    name: 'git queries',
    maxWeight: maxBytes,
    unit: 'bytes',
    weigh: ({ weight }, key) => weight + key.length + entryBytes,
  });

  const memoized = (...args: Args): Promise<Result> => {
    const key = keyText(keyOf(...args));
    const known = entries.get(key);
    if (known) return known.result;
    const result = load(...args);
    const entry = { result, weight: 0 };
    entries.set(key, entry);
    result.then(
      (value) => {
        if (entries.peek(key) === entry) entries.set(key, { result, weight: weigh(value) });
      },
      () => {
        if (entries.peek(key) === entry) entries.delete(key);
      },
    );
    return result;
  };
  const put = (result: Result, ...args: Args): void =>
    entries.set(keyText(keyOf(...args)), { result: Promise.resolve(result), weight: weigh(result) });
  return Object.assign(memoized, { put });
}
