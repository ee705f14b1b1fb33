import { data, Evaluator } from '@actions/expressions';
import type { EvaluationBudget } from './evaluation-budget.ts';
import { JsonNumber } from './expression-data.ts';
import type { ExpressionData } from './expression-data.ts';
import type { ExpressionFunction } from './expression-functions.ts';

type Tree = ConstructorParameters<typeof Evaluator>[0];

/** Upper bound for operators and functions that read the text of a value or iterate its items once. */
function sizeOf(value: ExpressionData): number {
  if (value instanceof data.StringData) return 1 + value.value.length;
  return value instanceof data.Array ? 1 + value.values().length : 1;
}

/** The evaluator of the library, which charges each value on creation; functions that read more charge themselves. */
export class CountingEvaluator extends Evaluator {
  readonly #budget: EvaluationBudget;

  constructor(
    tree: Tree,
    contexts: data.Dictionary,
    functions: ReadonlyMap<string, ExpressionFunction>,
    budget: EvaluationBudget,
  ) {
    super(tree, contexts, functions as never);
    this.#budget = budget;
  }

  protected override eval(tree: Tree): ExpressionData {
    const value = super.eval(tree);
    this.#budget.spend(sizeOf(value));
    // The parser creates its own numbers.
    return value instanceof data.NumberData ? new JsonNumber(value.value) : value;
  }
}
