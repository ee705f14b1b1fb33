import { createLru } from '../../kernel/index.ts';

/** Bounds of what is kept: a sum of weights in whatever unit `weigh` counts. */
interface Memory<Args extends unknown[], Answer> {
  most: number;
  weigh?: (answer: Answer) => number;
  /** All arguments, when this is not said. */
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
 * Asks once and remembers the answer, the least recently wanted forgotten first. For
 * questions whose answer never changes, because every name in them is an object id.
 * Who asks while the answer is on its way shares it; failures are not remembered.
 */
export function memoize<Args extends unknown[], Answer>(
  ask: (...args: Args) => Promise<Answer>,
  { most, weigh = () => 1, keyOf = (...args) => args }: Memory<Args, Answer>,
): (...args: Args) => Promise<Answer> {
  const answers = createLru<string, { answer: Promise<Answer>; weight: number }>({
    name: 'git queries',
    maxWeight: most,
    weigh: ({ weight }) => weight,
  });

  return (...args) => {
    const key = keyText(keyOf(...args));
    const known = answers.get(key);
    if (known) return known.answer;
    const answer = ask(...args);
    const entry = { answer, weight: 0 };
    answers.set(key, entry);
    answer.then(
      (value) => {
        if (answers.peek(key) === entry) answers.set(key, { answer, weight: weigh(value) });
      },
      () => {
        if (answers.peek(key) === entry) answers.delete(key);
      },
    );
    return answer;
  };
}
