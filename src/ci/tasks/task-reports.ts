import type { StepRow } from '../schema/task-schema.ts';

interface Kept {
  /** When the task was last heard of, milliseconds since the epoch. */
  at: number;
  steps: readonly StepRow[];
  written: boolean;
}

/**
 * What runners report of their tasks between two writes. A runner reports every
 * second, mostly that a step's log has grown; that is no reason for a write.
 */
export class TaskReports {
  readonly #kept = new Map<number, Kept>();

  /** @param written whether the database has these steps already */
  record(taskId: number, at: number, steps: readonly StepRow[], written: boolean): void {
    this.#kept.set(taskId, { at, steps, written });
  }

  /** A sign of life that is no report, such as rows of its log. */
  receivedTask(taskId: number, at: number): void {
    const kept = this.#kept.get(taskId);
    if (kept !== undefined) kept.at = at;
    else this.#kept.set(taskId, { at, steps: [], written: true });
  }

  lastReportAt(taskId: number): number | null {
    return this.#kept.get(taskId)?.at ?? null;
  }

  /** Newer than what the database has; empty when that is up to date. */
  unwritten(taskId: number): readonly StepRow[] {
    const kept = this.#kept.get(taskId);
    return kept === undefined || kept.written ? [] : kept.steps;
  }

  /** All that is not written, and takes it as written. */
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
