import { data } from '@actions/expressions';
import type { EvaluationBudget } from './evaluation-budget.ts';
import type { Json } from './json-value.ts';
import { numberText } from './number-text.ts';

export type ExpressionData = data.ExpressionData;
type Pair = ReturnType<data.Dictionary['pairs']>[number];

/**
 * Stores keys in a map; the library uses a plain object, which loses a job named `constructor`. Keys that differ only
 * by case are distinct. Values are created lazily: an expression reads a few out of a thousand.
 */
class JsonDictionary extends data.Dictionary {
  readonly #source: { readonly [key: string]: Json };
  #keys: Map<string, string> | null = null;

  constructor(source: { readonly [key: string]: Json }) {
    super();
    this.#source = source;
  }

  /** Keyed by the folded key. The first of several keys that differ only by case wins. */
  get #byFolded(): Map<string, string> {
    if (this.#keys === null) {
      this.#keys = new Map();
      for (const key of Object.keys(this.#source)) {
        const folded = key.toLowerCase();
        if (!this.#keys.has(folded)) this.#keys.set(folded, key);
      }
    }
    return this.#keys;
  }

  override get(key: string): ExpressionData | undefined {
    const own = this.#byFolded.get(key.toLowerCase());
    return own === undefined ? undefined : toData(this.#source[own]!);
  }

  override values(): ExpressionData[] {
    return this.pairs().map(({ value }) => value);
  }

  override pairs(): Pair[] {
    return [...this.#byFolded.values()].map((key) => ({ key, value: toData(this.#source[key]!) }));
  }
}

/** The library's number, but formatted as text the way runners do. */
export class JsonNumber extends data.NumberData {
  override coerceString(): string {
    return numberText(this.value);
  }
}

/** One data object per JSON object or list, for its lifetime: `==` compares them by identity. */
const made = new WeakMap<object, ExpressionData>();

/** Converts plain data to the types of the expression library. */
export function toData(value: Json): ExpressionData {
  if (value === null) return new data.Null();
  if (typeof value === 'string') return new data.StringData(value);
  if (typeof value === 'number') return new JsonNumber(value);
  if (typeof value === 'boolean') return new data.BooleanData(value);
  let known = made.get(value);
  if (known === undefined) {
    if (Array.isArray(value)) {
      const list = new data.Array();
      for (const item of value) list.add(toData(item));
      known = list;
    } else known = new JsonDictionary(value);
    made.set(value, known);
  }
  return known;
}

export const toDictionary = (value: { readonly [key: string]: Json }): data.Dictionary =>
  toData(value as { [key: string]: Json }) as data.Dictionary;

/** Cost of creating one value, relative to reading one character. */
const stepsOfValue = 4;

/** Converts the result of an expression to plain data, charging all of it. */
export function toJson(value: ExpressionData, budget: EvaluationBudget): Json {
  budget.spend(stepsOfValue);
  if (value instanceof data.Dictionary)
    return Object.fromEntries(
      value.pairs().map((pair) => {
        budget.spend(pair.key.length);
        return [pair.key, toJson(pair.value, budget)];
      }),
    );
  if (value instanceof data.Array) return value.values().map((item) => toJson(item, budget));
  if (value instanceof data.StringData) {
    budget.spend(value.value.length);
    return value.value;
  }
  if (value instanceof data.NumberData || value instanceof data.BooleanData) return value.value;
  return null;
}
