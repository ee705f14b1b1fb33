/**
 * Budget of all expressions and matrices of one write: characters read plus values visited. The most expensive step,
 * folding a character to upper case, takes about forty nanoseconds, so the whole budget takes at most a sixth of a
 * second. Two hundred matrix jobs with eight expressions each use a twentieth of it.
 */
const maxSteps = 4_000_000;

/** The message is for the author of the file. */
export class BudgetSpent extends Error {}

/**
 * Counts the cost of evaluation. Expressions are evaluated inside writes, which cannot wait for a worker, so all work
 * is charged before it is done.
 */
export class EvaluationBudget {
  #left: number;

  constructor(steps = maxSteps) {
    this.#left = steps;
  }

  /** Throws once the budget is exhausted, and on every later call. */
  spend(steps: number): void {
    this.#left -= steps;
    if (this.#left < 0) throw new BudgetSpent('the expressions of this workflow take too long to evaluate');
  }
}
