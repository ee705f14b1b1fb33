import type { Tx } from '../../db/index.ts';
import type { CiDeps } from '../deps.ts';
import type { AfterCommit } from './after-commit.ts';
import { describeJob, removeJobStatus, setJobStatus } from './job-commit-status.ts';
import { jobSchema } from '../schema/job-schema.ts';
import type { JobRow } from '../schema/job-schema.ts';
import { releaseGroup } from './release-group.ts';
import { isFinal, isRunning, statusOfRun } from '../run-status.ts';
import { runSchema } from '../schema/run-schema.ts';
import type { RunRow } from '../schema/run-schema.ts';

export type NewJob = Omit<JobRow, 'id'>;

/**
 * Jobs of a run, each leg of a matrix counted. Of one matrix there are 256 at most, of a file
 * 256 jobs; all of both would be 65,536 rows in one write, looked at together again and again.
 */
export const maxJobsOfRun = 1_024;
export const tooManyJobs = `A run has at most ${maxJobsOfRun} jobs, all combinations of all matrices together.`;

/**
 * The jobs of a run's present attempt, inside one write. Changes are collected and
 * saved together, and with them everything that hangs on them: the state of the
 * run, the commit's statuses, groups that become free.
 */
export class RunChanges {
  readonly run: RunRow;
  readonly jobs: JobRow[];
  readonly #deps: Pick<CiDeps, 'repositories' | 'endings'>;
  readonly #tx: Tx;
  readonly #after: AfterCommit;
  readonly #namesBefore = new Map<JobRow, string>();
  readonly #changed = new Set<JobRow>();
  readonly #added: JobRow[] = [];
  readonly #legs: Map<string, JobRow[]>;

  private constructor(
    deps: Pick<CiDeps, 'repositories' | 'endings'>,
    tx: Tx,
    after: AfterCommit,
    run: RunRow,
    jobs: JobRow[],
  ) {
    this.#deps = deps;
    this.#tx = tx;
    this.#after = after;
    this.run = run;
    this.jobs = jobs;
    this.#legs = Map.groupBy(jobs, ({ jobKey }) => jobKey);
    for (const job of jobs) this.#namesBefore.set(job, job.name);
  }

  /** Null when the run is gone. */
  static async open(
    deps: Pick<CiDeps, 'repositories' | 'endings'>,
    tx: Tx,
    after: AfterCommit,
    runId: number,
  ): Promise<RunChanges | null> {
    const run = await tx.manager.findOneBy(runSchema, { id: runId });
    if (run === null) return null;
    const jobs = await tx.manager.find(jobSchema, {
      where: { runId, attempt: run.attempt },
      order: { position: 'ASC', id: 'ASC' },
    });
    return new RunChanges(deps, tx, after, run, jobs);
  }

  /** A job that has ended is held by nothing: no later step of the same write may let it begin. */
  change(job: JobRow, changes: Partial<JobRow>): void {
    Object.assign(job, changes);
    if (isFinal(job.status)) job.hold = null;
    if (!this.#added.includes(job)) this.#changed.add(job);
  }

  /** The row has its id once the board is saved. */
  add(job: NewJob): JobRow {
    const row: JobRow = { id: 0, ...job };
    this.#added.push(row);
    this.jobs.push(row);
    const legs = this.#legs.get(row.jobKey);
    if (legs === undefined) this.#legs.set(row.jobKey, [row]);
    else legs.push(row);
    return row;
  }

  matrixJobsOf(jobKey: string): readonly JobRow[] {
    return this.#legs.get(jobKey) ?? [];
  }

  async save(): Promise<void> {
    const { manager, now } = this.#tx;
    const touched = [...this.#changed, ...this.#added];
    const freed = touched.flatMap((job) => this.#finish(job));
    for (const job of this.#added) {
      const { id: _, ...row } = job;
      // A leg holds any JSON, too deep for the compiler to follow.
      const { identifiers } = await manager.insert(jobSchema, row as never);
      job.id = identifiers[0]!.id as number;
    }
    for (const { id, ...row } of this.#changed) await manager.update(jobSchema, { id }, row as never);
    for (const job of touched) await this.#tellCommit(job);
    const releasedByRun = await this.#saveRun(now);
    for (const group of new Set([...freed, ...releasedByRun]))
      await releaseGroup(this.#tx, this.#after, this.run.repositoryId, group);
    if (touched.some((job) => job.status === 'waiting')) this.#after.mayHaveWork = true;
    this.#changed.clear();
    this.#added.length = 0;
  }

  /** What an ended job gives up: its place in a group. */
  #finish(job: JobRow): string[] {
    if (!isFinal(job.status)) return [];
    const group = job.concurrencyState === null ? null : job.concurrencyGroup;
    Object.assign(job, { concurrencyState: null, finishedAt: job.finishedAt ?? this.#tx.now });
    return group === null ? [] : [group];
  }

  async #tellCommit(job: JobRow): Promise<void> {
    const before = this.#namesBefore.get(job);
    if (before !== undefined && before !== job.name) await removeJobStatus(this.#deps, this.#tx, this.run, before);
    await setJobStatus(this.#deps, this.#tx, this.run, job, describeJob(job));
    this.#namesBefore.set(job, job.name);
  }

  /** The run is the sum of its jobs. Answers the groups that it gives up. */
  async #saveRun(now: number): Promise<string[]> {
    const { run } = this;
    const status = run.concurrencyState === 'pending' && !run.isCancelled ? 'blocked' : statusOfRun(this.jobs, run);
    const ended = isFinal(status);
    const endsNow = ended && run.finishedAt === null;
    const freed = ended && run.concurrencyState !== null && run.concurrencyGroup !== null ? [run.concurrencyGroup] : [];
    Object.assign(run, {
      status,
      startedAt:
        run.startedAt ?? (this.jobs.some((job) => isRunning(job.status) || job.startedAt !== null) ? now : null),
      finishedAt: ended ? (run.finishedAt ?? now) : null,
      concurrencyState: ended ? null : run.concurrencyState,
    });
    const { id, reason, isCancelled, startedAt, finishedAt, concurrencyState } = run;
    await this.#tx.manager.update(
      runSchema,
      { id },
      { status, reason, isCancelled, startedAt, finishedAt, concurrencyState },
    );
    if (endsNow) for (const hear of this.#deps.endings) await hear(this.#tx, run);
    this.#after.changed.add(id);
    return freed;
  }
}
