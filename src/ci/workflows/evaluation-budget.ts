/**
 * What the expressions and matrices of one write may cost together: characters that are read, values
 * that are looked at. The dearest step, a character that is folded to capitals, takes some
 * forty nanoseconds, so all of them a sixth of a second at worst. Two hundred legs with
 * eight expressions each use a twentieth of it.
 */
const maxSteps = 4_000_000;

/** In words for whoever wrote the file. */
export class BudgetSpent extends Error {}

/**
 * Counts what evaluating costs. Expressions are evaluated inside writes, where no thread
 * can be waited for, so everything in them is counted before it is done.
 */
export class EvaluationBudget {
  #left: number;

  constructor(steps = maxSteps) {
    this.#left = steps;
  }

  /** Throws when the budget is spent; from then on, always. */
  spend(steps: number): void {
    this.#left -= steps;
    if (this.#left < 0) throw new BudgetSpent('the expressions of this workflow take too long to evaluate');
  }
}
