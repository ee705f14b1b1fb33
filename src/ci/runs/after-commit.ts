import { EvaluationBudget } from '../workflows/evaluation-budget.ts';

/** What a write about runs leaves to be done once it is durable; `change-runs.ts` does it. */
export class AfterCommit {
  /** Runs whose pages show something new. */
  readonly changed = new Set<number>();
  /** Runs that were let go on, and whose jobs are still to be looked at. */
  readonly toAdvance = new Set<number>();
  /** Whether a job may have begun to wait for a runner. */
  mayHaveWork = false;
  /** What its expressions and matrices may cost, all runs of the write together. */
  readonly budget = new EvaluationBudget();
  /** How many jobs the runs have that it starts. */
  jobs = 0;
}
