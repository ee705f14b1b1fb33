import { data } from '@actions/expressions';
import type { Json } from './yaml-nodes.ts';

export type ExpressionData = data.ExpressionData;
type Pair = ReturnType<data.Dictionary['pairs']>[number];

/**
 * The library keeps keys in a plain object, where a job called `constructor`
 * would be lost; here they are in a map. Keys differ by more than case.
 */
class MapDictionary extends data.Dictionary {
  readonly #entries = new Map<string, Pair>();

  override add(key: string, value: ExpressionData): void {
    const folded = key.toLowerCase();
    if (!this.#entries.has(folded)) this.#entries.set(folded, { key, value });
  }

  override get(key: string): ExpressionData | undefined {
    return this.#entries.get(key.toLowerCase())?.value;
  }

  override values(): ExpressionData[] {
    return [...this.#entries.values()].map(({ value }) => value);
  }

  override pairs(): Pair[] {
    return [...this.#entries.values()];
  }
}

/** Plain data as the expression library has it. */
export function toData(value: Json): ExpressionData {
  if (value === null) return new data.Null();
  if (typeof value === 'string') return new data.StringData(value);
  if (typeof value === 'number') return new data.NumberData(value);
  if (typeof value === 'boolean') return new data.BooleanData(value);
  if (Array.isArray(value)) {
    const list = new data.Array();
    for (const item of value) list.add(toData(item));
    return list;
  }
  return toDictionary(value);
}

export function toDictionary(value: { readonly [key: string]: Json }): data.Dictionary {
  const dictionary = new MapDictionary();
  for (const [key, one] of Object.entries(value)) dictionary.add(key, toData(one));
  return dictionary;
}

/** What an expression gave, as plain data. */
export function toJson(value: ExpressionData): Json {
  if (value instanceof data.Dictionary)
    return Object.fromEntries(value.pairs().map((pair) => [pair.key, toJson(pair.value)]));
  if (value instanceof data.Array) return value.values().map(toJson);
  if (value instanceof data.StringData || value instanceof data.NumberData || value instanceof data.BooleanData)
    return value.value;
  return null;
}
