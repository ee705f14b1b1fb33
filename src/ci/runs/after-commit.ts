import { EvaluationBudget } from '../workflows/evaluation-budget.ts';

/** After-commit effects of a write about runs; `change-runs.ts` executes them. */
export class AfterCommit {
  /** Runs whose pages have changed. */
  readonly changed = new Set<number>();
  /** Released runs whose jobs must still be advanced. */
  readonly toAdvance = new Set<number>();
  /** Whether a job may have become available to runners. */
  mayHaveWork = false;
  /** Evaluation budget of the write, shared by all its runs. */
  readonly budget = new EvaluationBudget();
  /** Number of jobs of the runs that the write starts. */
  jobs = 0;
}
