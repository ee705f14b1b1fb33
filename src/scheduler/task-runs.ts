import { upsert } from '../db/index.ts';
import type { Database } from '../db/index.ts';
import type { Clock } from '../kernel/index.ts';

/** The last outcome of a task: a row of `job_runs`. */
interface TaskRun {
  name: string;
  /** Epoch milliseconds. */
  lastStartedAt: number;
  lastTookMs: number;
  lastError: string | null;
  /** Consecutive failures. */
  failures: number;
}

const columns =
  'name, last_started_at AS "lastStartedAt", last_took_ms AS "lastTookMs", last_error AS "lastError", failures';

/**
 * Stores outcomes of tasks. A row is at most an hour old; the change between success and failure is written at once.
 */
export interface TaskRuns {
  record(name: string, startedAt: number, tookMs: number, error: unknown): Promise<void>;
  list(): Promise<TaskRun[]>;
}

/** A task that runs every ten seconds without work must not write each time: disks could never spin down. */
const writtenEveryMs = 3_600_000;

export function createTaskRuns({ db, clock }: { db: Database; clock: Clock }): TaskRuns {
  const latest = new Map<string, TaskRun>();
  const writtenAt = new Map<string, number>();
  return {
    async record(name, startedAt, tookMs, error) {
      const before =
        latest.get(name) ??
        ((await db.read.query(`SELECT ${columns} FROM job_runs WHERE name = ?`, [name])) as TaskRun[])[0];
      const lastError = error === null ? null : (error instanceof Error ? error.message : String(error)).slice(0, 500);
      const run = {
        name,
        lastStartedAt: startedAt,
        lastTookMs: Math.round(tookMs),
        lastError,
        failures: error === null ? 0 : (before?.failures ?? 0) + 1,
      };
      latest.set(name, run);
      const isNews = (before?.lastError ?? null) !== lastError;
      if (!isNews && clock.now() - (writtenAt.get(name) ?? 0) < writtenEveryMs) return;
      writtenAt.set(name, clock.now());
      await db.write(({ manager }) =>
        manager.query(upsert('job_runs', ['name'], ['last_started_at', 'last_took_ms', 'last_error', 'failures']), [
          name,
          startedAt,
          run.lastTookMs,
          lastError,
          run.failures,
        ]),
      );
    },
    async list() {
      const rows = (await db.read.query(`SELECT ${columns} FROM job_runs ORDER BY name`)) as TaskRun[];
      return rows.map((row) => latest.get(row.name) ?? row);
    },
  };
}
