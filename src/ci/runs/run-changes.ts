import type { Tx } from '../../db/index.ts';
import type { CiDeps } from '../deps.ts';
import { followJob } from './deploy-job.ts';
import type { AfterCommit } from './after-commit.ts';
import { describeJobStatus, removeJobStatus, setJobStatus } from './job-commit-status.ts';
import { jobSchema } from '../schema/job-schema.ts';
import type { JobRow } from '../schema/job-schema.ts';
import { recordRunEvent } from './record-run-event.ts';
import { releaseConcurrencyGroup } from './release-concurrency-group.ts';
import { isFinal, isRunning, statusOfRun } from '../run-status.ts';
import { runSchema } from '../schema/run-schema.ts';
import type { RunRow } from '../schema/run-schema.ts';

export type NewJob = Omit<JobRow, 'id'>;

/**
 * Limit of jobs per run, including matrix jobs. A file may have 256 jobs with 256 combinations each; their 65,536 rows
 * would be read and written in one write again and again.
 */
export const maxJobsOfRun = 1_024;
export const tooManyJobs = `A run can have at most ${maxJobsOfRun} jobs, all combinations of all matrices together.`;

/** Positions of the matrix of a job start at multiples of this; a matrix has fewer jobs. */
export const positionsPerJob = 1000;

/**
 * Unit of work on the jobs of the current attempt of a run, inside one write. Changes are collected and saved together
 * with their consequences: the state of the run, commit statuses, released concurrency groups.
 */
export class RunChanges {
  readonly run: RunRow;
  readonly jobs: JobRow[];
  readonly #deps: Pick<CiDeps, 'repositories' | 'endings' | 'deploymentListeners' | 'reviewListeners'>;
  readonly #tx: Tx;
  readonly #after: AfterCommit;
  readonly #namesBefore = new Map<JobRow, string>();
  readonly #changed = new Set<JobRow>();
  readonly #added: JobRow[] = [];
  readonly #matrixJobs: Map<string, JobRow[]>;
  #reviewsBefore: ReadonlySet<string>;

  private constructor(
    deps: Pick<CiDeps, 'repositories' | 'endings' | 'deploymentListeners' | 'reviewListeners'>,
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
    this.#matrixJobs = Map.groupBy(jobs, ({ jobKey }) => jobKey);
    for (const job of jobs) this.#namesBefore.set(job, job.name);
    this.#reviewsBefore = this.#awaitedReviews();
  }

  /** Null if the run was deleted. */
  static async open(
    deps: Pick<CiDeps, 'repositories' | 'endings' | 'deploymentListeners' | 'reviewListeners'>,
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

  /** Clears the hold of a job that has ended, so that no later step of the same write starts it. */
  change(job: JobRow, changes: Partial<JobRow>): void {
    Object.assign(job, changes);
    if (isFinal(job.status)) {
      job.hold = null;
      if (job.environmentState === 'waiting') job.environmentState = null;
    }
    if (!this.#added.includes(job)) this.#changed.add(job);
  }

  /** The row gets its id when the changes are saved. */
  add(job: NewJob): JobRow {
    const row: JobRow = { id: 0, ...job };
    this.#added.push(row);
    this.jobs.push(row);
    const matrixJobs = this.#matrixJobs.get(row.jobKey);
    if (matrixJobs === undefined) this.#matrixJobs.set(row.jobKey, [row]);
    else matrixJobs.push(row);
    return row;
  }

  matrixJobsOf(jobKey: string): readonly JobRow[] {
    return this.#matrixJobs.get(jobKey) ?? [];
  }

  async save(): Promise<void> {
    const { manager, now } = this.#tx;
    const touched = [...this.#changed, ...this.#added];
    const freed = touched.flatMap((job) => this.#finish(job));
    for (const job of this.#added) {
      const { id: _, ...row } = job;
      // The cast avoids a type that is too deep for the compiler: a matrix combination is any JSON.
      const { identifiers } = await manager.insert(jobSchema, row as never);
      job.id = identifiers[0]!.id as number;
    }
    for (const { id, ...row } of this.#changed) await manager.update(jobSchema, { id }, row as never);
    for (const job of touched) await this.#reportCommitStatus(job);
    for (const job of touched) await followJob(this.#deps, this.#tx, this.run, job);
    await this.#tellSettledReviews();
    const releasedByRun = await this.#saveRun(now);
    for (const group of new Set([...freed, ...releasedByRun]))
      await releaseConcurrencyGroup(this.#tx, this.#after, this.run.repositoryId, group);
    if (touched.some((job) => job.status === 'waiting')) this.#after.mayHaveWork = true;
    this.#changed.clear();
    this.#added.length = 0;
  }

  /** Names of the environments whose reviewers jobs wait for. */
  #awaitedReviews(): Set<string> {
    const waiting = this.jobs.filter(
      ({ environmentState, environmentApproved }) => environmentState === 'waiting' && !environmentApproved,
    );
    return new Set(waiting.flatMap(({ environment }) => environment ?? []));
  }

  async #tellSettledReviews(): Promise<void> {
    const before = this.#reviewsBefore;
    this.#reviewsBefore = this.#awaitedReviews();
    for (const environment of before) {
      if (this.#reviewsBefore.has(environment)) continue;
      for (const tell of this.#deps.reviewListeners)
        await tell(this.#tx, { kind: 'settled', run: this.run, environment });
    }
  }

  /** Returns the concurrency groups that an ended job releases. */
  #finish(job: JobRow): string[] {
    if (!isFinal(job.status)) return [];
    const group = job.concurrencyState === null ? null : job.concurrencyGroup;
    Object.assign(job, { concurrencyState: null, finishedAt: job.finishedAt ?? this.#tx.now });
    return group === null ? [] : [group];
  }

  async #reportCommitStatus(job: JobRow): Promise<void> {
    const before = this.#namesBefore.get(job);
    if (before !== undefined && before !== job.name) await removeJobStatus(this.#deps, this.#tx, this.run, before);
    await setJobStatus(this.#deps, this.#tx, this.run, job, describeJobStatus(job, this.run));
    this.#namesBefore.set(job, job.name);
  }

  /** Derives the state of the run from its jobs. Returns the groups that it releases. */
  async #saveRun(now: number): Promise<string[]> {
    const { run } = this;
    const status = run.concurrencyState === 'pending' && !run.isCancelled ? 'blocked' : statusOfRun(this.jobs, run);
    const ended = isFinal(status);
    const wasStarted = run.startedAt !== null;
    const endsNow = ended && run.finishedAt === null;
    const freed = ended && run.concurrencyState !== null && run.concurrencyGroup !== null ? [run.concurrencyGroup] : [];
    Object.assign(run, {
      status,
      startedAt:
        // Jobs carried over from an earlier attempt did not start in this one.
        run.startedAt ??
        (this.jobs.some((job) => isRunning(job.status) || (run.attempt === 1 && job.startedAt !== null)) ? now : null),
      finishedAt: ended ? (run.finishedAt ?? now) : null,
      concurrencyState: ended ? null : run.concurrencyState,
    });
    const { id, reason, isCancelled, startedAt, finishedAt, concurrencyState } = run;
    await this.#tx.manager.update(
      runSchema,
      { id },
      { status, reason, isCancelled, startedAt, finishedAt, concurrencyState },
    );
    if (!wasStarted && run.startedAt !== null) await recordRunEvent(this.#tx, run, 'in_progress');
    if (endsNow) for (const listener of this.#deps.endings) await listener(this.#tx, run);
    this.#after.changed.add(id);
    return freed;
  }
}
