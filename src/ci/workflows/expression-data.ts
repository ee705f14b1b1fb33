import { data } from '@actions/expressions';
import type { EvaluationBudget } from './evaluation-budget.ts';
import type { Json } from './json.ts';
import { numberText } from './number-text.ts';

export type ExpressionData = data.ExpressionData;
type Pair = ReturnType<data.Dictionary['pairs']>[number];

/**
 * The library stores keys in a plain object, where a job called `constructor` would be lost; here they are in a map.
 * Keys that differ only by case are distinct. Values are created lazily: an expression reads a few of a thousand.
 */
class JsonDictionary extends data.Dictionary {
  readonly #source: { readonly [key: string]: Json };
  #keys: Map<string, string> | null = null;

  constructor(source: { readonly [key: string]: Json }) {
    super();
    this.#source = source;
  }

  /** Keyed by the folded key. The first of those that differ only by case counts. */
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

/** The library's number, but as text what runners make of it. */
export class JsonNumber extends data.NumberData {
  override coerceString(): string {
    return numberText(this.value);
  }
}

/** One data object per JSON object and list, for their lifetime: `==` compares them by identity. */
const made = new WeakMap<object, ExpressionData>();

/** Plain data as the expression library represents it. */
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

/** The result of an expression as plain data; all of it is charged. */
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
