import type { StepRow } from '../schema/task-schema.ts';

interface Kept {
  /** Time of the last report, in epoch milliseconds. */
  at: number;
  steps: readonly StepRow[];
  written: boolean;
}

/**
 * Reports of runners between two writes. A runner reports every second, mostly that a step's log has grown, which is
 * not worth a write.
 */
export class TaskReports {
  readonly #kept = new Map<number, Kept>();

  /** @param written whether the database has these steps already */
  record(taskId: number, at: number, steps: readonly StepRow[], written: boolean): void {
    this.#kept.set(taskId, { at, steps, written });
  }

  /** A sign of life other than a report, such as rows of its log. */
  recordActivity(taskId: number, at: number): void {
    const kept = this.#kept.get(taskId);
    if (kept !== undefined) kept.at = at;
    else this.#kept.set(taskId, { at, steps: [], written: true });
  }

  lastReportAt(taskId: number): number | null {
    return this.#kept.get(taskId)?.at ?? null;
  }

  /** Steps newer than in the database; empty when that is up to date. */
  unwritten(taskId: number): readonly StepRow[] {
    const kept = this.#kept.get(taskId);
    return kept === undefined || kept.written ? [] : kept.steps;
  }

  /** Returns all unwritten steps, and marks them as written. */
  takeUnwritten(): StepRow[] {
    const steps: StepRow[] = [];
    for (const kept of this.#kept.values()) {
      if (!kept.written) steps.push(...kept.steps);
      kept.written = true;
    }
    return steps;
  }

  forget(taskId: number): void {
    this.#kept.delete(taskId);
  }
}
