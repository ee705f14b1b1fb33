import { data } from '@actions/expressions';
import type { EvaluationBudget } from './evaluation-budget.ts';
import type { Json } from './json.ts';

export type ExpressionData = data.ExpressionData;
type Pair = ReturnType<data.Dictionary['pairs']>[number];

/**
 * The library keeps keys in a plain object, where a job called `constructor`
 * would be lost; here they are in a map. Keys differ by more than case. Values are made
 * when they are asked for: an expression looks at a few of a thousand.
 */
class JsonDictionary extends data.Dictionary {
  readonly #source: { readonly [key: string]: Json };
  #keys: Map<string, string> | null = null;

  constructor(source: { readonly [key: string]: Json }) {
    super();
    this.#source = source;
  }

  /** By the folded key. The first of those that differ by case alone counts. */
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

/** One piece of data for each object and list, as long as that lives: `==` compares them by identity. */
const made = new WeakMap<object, ExpressionData>();

/** Plain data as the expression library has it. */
export function toData(value: Json): ExpressionData {
  if (value === null) return new data.Null();
  if (typeof value === 'string') return new data.StringData(value);
  if (typeof value === 'number') return new data.NumberData(value);
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

/** To make one value, against reading one character. */
const stepsOfValue = 4;

/** What an expression gave, as plain data; all of it is counted. */
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
