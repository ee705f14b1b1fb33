import { createLru } from '../../kernel/index.ts';

/** Bounds of the cache. */
interface Memory<Args extends unknown[], Result> {
  maxBytes: number;
  /** Memory size of a result in bytes, without its key. */
  weigh: (result: Result) => number;
  /** Defaults to all arguments. */
  keyOf?: (...args: Args) => unknown[];
}

interface Memoized<Args extends unknown[], Result> {
  (...args: Args): Promise<Result>;
  /** Caches a result of another query for these arguments. */
  put(result: Result, ...args: Args): void;
}

/** Memory size of an entry without its key and result, in bytes. */
const entryBytes = 200;

/** Buffers as text: one character per byte. */
const keyText = (parts: unknown[]): string =>
  JSON.stringify(parts, (_name, value: unknown) =>
    isBytes(value) ? Buffer.from(value.data).toString('latin1') : value,
  );

/** The form of a buffer in a JSON replacer. */
const isBytes = (value: unknown): value is { data: number[] } =>
  typeof value === 'object' && value !== null && 'type' in value && value.type === 'Buffer';

/**
 * Memoizes a function in an LRU cache, for queries whose result never changes because all names in them are object ids.
 * Concurrent equal calls share one result; failures are not cached.
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
