import type { StepRow } from './schema/task-schema.ts';

interface StoredReport {
  /** Time of the last report, in epoch milliseconds. */
  at: number;
  steps: readonly StepRow[];
  written: boolean;
  /** Whether its time is newer than in the database. */
  isTimeNew: boolean;
}

/**
 * Buffers reports of runners between writes. A runner reports every second, mostly that the log of a step has grown,
 * which is not worth a write.
 */
export class TaskReports {
  readonly #reports = new Map<number, StoredReport>();

  /**
   * @param written whether the database already has these steps
   */
  record(taskId: number, at: number, steps: readonly StepRow[], written: boolean): void {
    this.#reports.set(taskId, { at, steps, written, isTimeNew: !written });
  }

  lastReportAt(taskId: number): number | null {
    return this.#reports.get(taskId)?.at ?? null;
  }

  /** Steps newer than in the database; empty if it is up to date. */
  unwritten(taskId: number): readonly StepRow[] {
    const report = this.#reports.get(taskId);
    return report === undefined || report.written ? [] : report.steps;
  }

  /** Returns all unwritten steps, and marks them as written. */
  drainUnwritten(): StepRow[] {
    const steps: StepRow[] = [];
    for (const report of this.#reports.values()) {
      if (!report.written) steps.push(...report.steps);
      report.written = true;
    }
    return steps;
  }

  /** Returns the times of reports missing in the database, and marks them as written. Forgets old reports. */
  drainTimes(forgottenBefore: number): [taskId: number, at: number][] {
    const times: [number, number][] = [];
    for (const [taskId, report] of this.#reports) {
      if (report.isTimeNew) times.push([taskId, report.at]);
      report.isTimeNew = false;
      // The task has ended at another node.
      if (report.at < forgottenBefore) this.#reports.delete(taskId);
    }
    return times;
  }

  forget(taskId: number): void {
    this.#reports.delete(taskId);
  }
}
