// Each limit of what calls of the API may send, on both sides: the last value passes, the next one is refused by its
// name. `input-limits.txt` has the limits by field: programs rely on them, so one that changes is changed there, too.
import t from 'tap';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { z } from 'zod';
import { operations } from '../../src/http-api/v1/operations.ts';

type Bound = 'maxLength' | 'maxItems' | 'maximum' | 'minimum' | 'minLength' | 'minItems';

interface Limit {
  operation: string;
  schema: z.ZodType;
  part: 'body' | 'query';
  /** Keys from the whole to the value; `*` stands for any item and for any key. */
  keys: readonly string[];
  type: string;
  bound: Bound;
  value: number;
}

interface Described extends Partial<Record<Bound, number>> {
  type?: string;
  format?: string;
  $ref?: string;
  $defs?: Record<string, Described>;
  properties?: Record<string, Described>;
  items?: Described;
  additionalProperties?: Described | boolean;
  anyOf?: Described[];
  oneOf?: Described[];
}

const bounds: readonly Bound[] = ['maxLength', 'maxItems', 'maximum', 'minimum', 'minLength', 'minItems'];

function limitsOf(at: Pick<Limit, 'operation' | 'schema' | 'part'>): Limit[] {
  const whole = z.toJSONSchema(at.schema, { io: 'input', unrepresentable: 'any' }) as Described;
  const found: Limit[] = [];
  const walk = (one: Described | boolean | undefined, keys: readonly string[], depth: number): void => {
    if (typeof one !== 'object' || depth > 12) return;
    if (one.$ref !== undefined) walk(whole.$defs?.[one.$ref.replace('#/$defs/', '')], keys, depth + 1);
    for (const bound of bounds) {
      const value = one[bound];
      // Those of every whole number are none of the field.
      if (value !== undefined && Math.abs(value) < Number.MAX_SAFE_INTEGER)
        found.push({ ...at, keys, type: one.type ?? '', bound, value });
    }
    for (const [key, each] of Object.entries(one.properties ?? {})) walk(each, [...keys, key], depth + 1);
    for (const each of [one.items, one.additionalProperties]) walk(each, [...keys, '*'], depth + 1);
    for (const each of [...(one.anyOf ?? []), ...(one.oneOf ?? [])]) walk(each, keys, depth + 1);
  };
  walk(whole, [], 0);
  return found;
}

const limits = operations.flatMap(({ id: operation, body, query }) => [
  ...(body instanceof z.ZodType ? limitsOf({ operation, schema: body, part: 'body' }) : []),
  ...(query instanceof z.ZodType ? limitsOf({ operation, schema: query, part: 'query' }) : []),
]);

/** A value of some size: as long, as many, or the number itself. */
function valueOf({ type, bound }: Limit, size: number): unknown {
  if (bound === 'maximum' || bound === 'minimum') return size;
  return type === 'array' ? Array.from({ length: size }, (_, at) => at) : 'a'.repeat(size);
}

/** What a schema says about the size of a value at a place of the input, and about nothing else. */
function refusalsOfSize({ schema, keys, part }: Limit, value: unknown): string[] {
  const input = keys.reduceRight<unknown>((inner, key) => (key === '*' ? [inner] : { [key]: inner }), value);
  const asSent = part === 'query' ? [value, String(value)] : [value];
  const inputs = part === 'query' && keys.length === 1 ? asSent.map((each) => ({ [keys[0]!]: each })) : [input];
  const messages = inputs.map((each) => {
    const { error } = schema.safeParse(each);
    return JSON.stringify(error?.issues ?? []).match(/too_(?:big|small)/g) ?? [];
  });
  return messages.flat();
}

t.test('the last value passes and the next one is refused', async (t) => {
  let tried = 0;
  for (const limit of limits) {
    const { operation, keys, bound, value } = limit;
    const name = `${operation} ${keys.join('.')} ${bound} ${value}`;
    const isUpper = bound.startsWith('max');
    const [last, next] = [value, isUpper ? value + 1 : value - 1];
    // No text and no list is shorter than none; values below keys of any name are reached by other tests.
    if (next < 0 && bound !== 'minimum') continue;
    const at = refusalsOfSize(limit, valueOf(limit, last));
    const beyond = refusalsOfSize(limit, valueOf(limit, next));
    if (beyond.length > at.length) tried += 1;
    else t.ok(keys.includes('*') || keys.length === 0, `${name}: ${JSON.stringify({ at, beyond })}`);
  }
  t.ok(tried >= limits.length - 10, `${tried} of ${limits.length} were tried on both sides`);
});

t.test('the limits of fields are those that programs know', async (t) => {
  const named = limits.map(({ keys, bound, value }) => `${keys.join('.') || '(whole)'} ${bound} ${value}`);
  const file = path.join(import.meta.dirname, 'input-limits.txt');
  t.strictSame([...new Set(named)].sort().join('\n'), readFileSync(file, 'utf8').trimEnd());
});

t.test('the body of an operation may be longer than the longest text in it', async (t) => {
  for (const { id, body, maxJsonBytes = 64 * 1024 } of operations) {
    if (!(body instanceof z.ZodType)) continue;
    const texts = limitsOf({ operation: id, schema: body, part: 'body' }).filter(({ bound }) => bound === 'maxLength');
    const longest = Math.max(0, ...texts.map(({ value }) => value));
    t.ok(longest < maxJsonBytes, `${id}: ${longest} characters in ${maxJsonBytes} bytes`);
  }
});
