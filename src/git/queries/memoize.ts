/** Bounds of the cache: a sum of weights in whatever unit `weigh` counts. */
interface Memory<Args extends unknown[], Answer> {
  most: number;
  weigh?: (answer: Answer) => number;
  /** Defaults to all arguments. */
  keyOf?: (...args: Args) => unknown[];
}

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
export function memoize<Args extends unknown[], Answer>(
  ask: (...args: Args) => Promise<Answer>,
  { most, weigh = () => 1, keyOf = (...args) => args }: Memory<Args, Answer>,
): (...args: Args) => Promise<Answer> {
  const answers = new Map<string, { answer: Promise<Answer>; weight: number }>();
  let total = 0;

  function settle(key: string, weight: number): void {
    const entry = answers.get(key);
    if (!entry) return;
    entry.weight = weight;
    total += weight;
    for (const [oldest, { weight: freed }] of answers) {
      if (total <= most) break;
      answers.delete(oldest);
      total -= freed;
    }
  }

  return (...args) => {
    const key = keyText(keyOf(...args));
    const known = answers.get(key);
    if (known) {
      answers.delete(key);
      answers.set(key, known);
      return known.answer;
    }
    const answer = ask(...args);
    answers.set(key, { answer, weight: 0 });
    answer.then(
      (value) => settle(key, weigh(value)),
      () => answers.delete(key),
    );
    return answer;
  };
}
