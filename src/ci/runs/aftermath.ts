/** What a write about runs leaves to be done once it is durable; `change-runs.ts` does it. */
export class Aftermath {
  /** Runs whose pages show something new. */
  readonly changed = new Set<number>();
  /** Runs that were let go on, and whose jobs are still to be looked at. */
  readonly toAdvance = new Set<number>();
  /** Whether a job may have begun to wait for a runner. */
  mayHaveWork = false;
}
