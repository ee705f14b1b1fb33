import type { Tx } from '../../db/index.ts';
import type { CiDeps } from '../deps.ts';
import { variablesInWrite } from '../secrets/variables.ts';
import { chainOf, keysOfCall, withoutConditions } from '../workflows/workflow-calls.ts';
import { hasPendingCalls, siblingsOf, withCallMatrices } from '../workflows/expand-call.ts';
import type { CallMatrix } from '../workflows/expand-call.ts';
import type { JobDefinition, Workflow, WorkflowCall } from '../workflows/workflow.ts';
import type { AfterCommit } from './after-commit.ts';
import { enterEnvironment } from './enter-environment.ts';
import { cancelJob } from './cancel-jobs.ts';
import { claimConcurrencyGroup, concurrencyGroupOf } from './claim-concurrency-group.ts';
import { RunChanges, maxJobsOfRun, positionsPerJob, tooManyJobs } from './run-changes.ts';
import { contextsOfJob } from './job-contexts.ts';
import type { JobContexts } from './job-contexts.ts';
import type { JobRow } from '../schema/job-schema.ts';
import type { LoadedRun } from '../load-run.ts';
import { outcomesOf } from './needs.ts';
import { callMatricesOf, callMatrixSchema } from '../schema/call-matrix-schema.ts';
import { isFinal, isRunning } from '../run-status.ts';
import { earlyName, resolveJob } from './resolve-job.ts';
import type { MatrixPlace, ResolvedMatrixJob } from './resolve-job.ts';

/**
 * Advances a run as far as possible without a runner: resolves jobs whose needs have ended, cancels siblings of failed
 * matrix jobs, and queues jobs. Idempotent.
 */
export async function advanceRun(deps: CiDeps, tx: Tx, loaded: LoadedRun, after: AfterCommit): Promise<void> {
  const runChanges = await RunChanges.open(deps, tx, after, loaded.run.id);
  if (runChanges === null || isFinal(runChanges.run.status)) return;
  await advanceJobs(deps, tx, after, runChanges, loaded);
}

/** Does the same for jobs that were changed earlier in this write, and saves the changes. */
export async function advanceJobs(
  deps: CiDeps,
  tx: Tx,
  after: AfterCommit,
  runChanges: RunChanges,
  loaded: LoadedRun,
): Promise<void> {
  const { run } = runChanges;
  const { parsed } = loaded;
  if (!parsed.ok) {
    // The file was valid once, but a newer version of the server rejects it. Its jobs can never start.
    const reason = `${run.workflowPath}, ${parsed.problem.describe()}`;
    if (run.concurrencyState === 'pending') run.concurrencyState = null;
    for (const job of runChanges.jobs) if (job.hold !== null) runChanges.change(job, { status: 'failure', reason });
    return runChanges.save();
  }
  if (run.concurrencyState === 'pending' || run.approval === 'waiting') return runChanges.save();
  let { workflow } = parsed;
  // The run was loaded before this write; calls may have been expanded since.
  if (hasPendingCalls(workflow)) workflow = withCallMatrices(workflow, await callMatricesOf(tx.manager, run.id));
  const advance = new Advance(deps, tx, after, runChanges, { ...loaded, run }, workflow);
  advance.unhold();
  let before: string;
  do {
    before = advance.fingerprint();
    await advance.endSiblings();
    await advance.resolveReady();
    await advance.enterEnvironments();
  } while (advance.fingerprint() !== before);
  await advance.startWaiting();
  await runChanges.save();
}

class Advance {
  readonly #deps: CiDeps;
  readonly #tx: Tx;
  readonly #after: AfterCommit;
  readonly #runChanges: RunChanges;
  readonly #loaded: LoadedRun;
  #workflow: Workflow;
  #variables: Record<string, string> | null = null;
  /** Computed once per job for its whole matrix: its needs have ended and no longer change. */
  readonly #contexts = new Map<JobDefinition, JobContexts>();

  constructor(deps: CiDeps, tx: Tx, after: AfterCommit, runChanges: RunChanges, loaded: LoadedRun, workflow: Workflow) {
    this.#deps = deps;
    this.#tx = tx;
    this.#after = after;
    this.#runChanges = runChanges;
    this.#loaded = loaded;
    this.#workflow = workflow;
  }

  fingerprint(): string {
    return `${this.#workflow.jobs.size} ${this.#runChanges.jobs.map((job) => `${job.status}${job.hold}${job.environmentState}`).join()}`;
  }

  /**
   * Releases jobs whose run no longer waits; a job that holds its concurrency group is still subject to `max-parallel`.
   */
  unhold(): void {
    for (const job of this.#runChanges.jobs) {
      if (job.hold === 'run') this.#runChanges.change(job, { hold: 'needs' });
      if (job.hold === 'concurrency' && job.concurrencyState === 'holding')
        this.#runChanges.change(job, { hold: 'parallel' });
    }
  }

  /**
   * `fail-fast`: cancels the rest of a matrix, also the matrix of a call, when one of its jobs fails. A matrix job
   * created after the failure was re-run alone: failures of earlier attempts do not cancel it.
   */
  async endSiblings(): Promise<void> {
    const { jobs } = this.#runChanges;
    for (const failed of jobs.filter((job) => job.status === 'failure' && !job.continueOnError)) {
      const keys = this.#keysEndedBy(failed);
      for (const sibling of jobs) {
        if (!keys.has(sibling.jobKey) || isFinal(sibling.status) || sibling.status === 'cancelling') continue;
        if (failed.finishedAt !== null && sibling.createdAt > failed.finishedAt) continue;
        await cancelJob(this.#deps, this.#tx, this.#runChanges, sibling, {
          reason: `Cancelled because ${failed.name} failed.`,
        });
      }
    }
  }

  #keysEndedBy({ jobKey, failFast }: JobRow): Set<string> {
    const calls = chainOf(this.#workflow.jobs.get(jobKey)?.call ?? null).filter((call) => call.failFast);
    const others = calls.flatMap((call) => siblingsOf(this.#workflow, call).filter(({ key }) => key !== call.key));
    return new Set([...(failFast ? [jobKey] : []), ...others.flatMap((call) => keysOfCall(this.#workflow, call))]);
  }

  async resolveReady(): Promise<void> {
    for (const job of this.#runChanges.jobs.filter((one) => one.hold === 'needs')) {
      if (this.#runChanges.run.isCancelled) {
        this.#runChanges.change(job, { status: 'cancelled' });
        continue;
      }
      const definition = this.#workflow.jobs.get(job.jobKey);
      const outcome = definition === undefined ? null : outcomesOf(this.#runChanges, this.#workflow, definition);
      if (outcome === null || definition === undefined) continue;
      const contexts = await this.#contextsOf(definition);
      const resolution = resolveJob(definition, contexts, outcome, job.combination, this.#placeOf(job));
      if (resolution.kind === 'expand') await this.#expandCall(job, resolution.matrix);
      else if (resolution.kind === 'skip') this.#runChanges.change(job, { status: 'skipped' });
      else if (resolution.kind === 'fail')
        this.#runChanges.change(job, { status: 'failure', reason: resolution.reason, failFast: resolution.failFast });
      else this.#expand(job, resolution.matrixJobs);
    }
  }

  /**
   * Adds the jobs of a call for the other combinations of its matrix, in the order of the file. The job that required
   * it is resolved in the next round.
   */
  async #expandCall(job: JobRow, matrix: CallMatrix): Promise<void> {
    const { run, jobs } = this.#runChanges;
    const workflow = withCallMatrices(this.#workflow, [matrix]);
    const inside = jobs.filter(({ jobKey }) => jobKey.startsWith(`${matrix.callKey}.`));
    if (jobs.length + inside.length * (matrix.combinations.length - 1) > maxJobsOfRun)
      return this.#runChanges.change(job, { status: 'failure', reason: tooManyJobs });
    const known = (await callMatricesOf(this.#tx.manager, run.id)).length;
    const { callKey, ...rest } = matrix;
    // The cast avoids a type that is too deep for the compiler: a combination is any JSON.
    const row = { runId: run.id, position: known, callKey, matrix: rest } as never;
    await this.#tx.manager.insert(callMatrixSchema, row);
    this.#workflow = workflow;
    this.#contexts.clear();
    for (const [at] of matrix.combinations.entries()) {
      if (at === 0) continue;
      for (const one of inside)
        this.#runChanges.add({
          ...withoutId(one),
          jobKey: `${callKey}#${at}${one.jobKey.slice(callKey.length)}`,
        });
    }
    const places = new Map([...workflow.jobs.keys()].map((key, place) => [key, place * positionsPerJob]));
    for (const one of jobs) {
      const definition = workflow.jobs.get(one.jobKey);
      if (definition === undefined) continue;
      this.#runChanges.change(one, {
        position: places.get(one.jobKey)! + (one.position % positionsPerJob),
        needs: [...definition.waitsFor],
        ...(one.hold === 'needs' && { name: earlyName(definition, one.combination) }),
      });
    }
  }

  /** The first matrix job reuses the existing row; a newly evaluated matrix adds the others. */
  #expand(job: JobRow, matrixJobs: readonly ResolvedMatrixJob[]): void {
    if (this.#runChanges.jobs.length + matrixJobs.length - 1 > maxJobsOfRun)
      return this.#runChanges.change(job, { status: 'failure', reason: tooManyJobs });
    for (const [at, { concurrency, ...combination }] of matrixJobs.entries()) {
      const resolved = {
        ...combination,
        hold: 'parallel' as const,
        concurrencyGroup: concurrency && concurrencyGroupOf(this.#runChanges.run, concurrency.group),
      };
      if (at === 0) this.#runChanges.change(job, resolved);
      else this.#runChanges.add({ ...withoutId(job), ...resolved, position: job.position + at });
    }
  }

  /** Runs before slots and groups are assigned: a job that waits for a reviewer must not delay others. */
  async enterEnvironments(): Promise<void> {
    for (const job of this.#runChanges.jobs)
      if (job.hold === 'parallel' && job.environment !== null)
        await enterEnvironment(this.#deps, this.#tx, this.#runChanges, this.#loaded, job);
  }

  /** Queues matrix jobs as far as `max-parallel` and concurrency groups allow. */
  async startWaiting(): Promise<void> {
    for (const job of [...this.#runChanges.jobs].sort((a, b) => a.position - b.position)) {
      if (job.hold !== 'parallel') continue;
      if (job.environment !== null && job.environmentState !== 'passed') continue;
      const busy = this.#runChanges.jobs.filter(
        (one) => one.jobKey === job.jobKey && (one.status === 'waiting' || isRunning(one.status)),
      );
      if (job.maxParallel !== null && busy.length >= job.maxParallel) continue;
      if (!this.#hasPlaceInCalls(job)) continue;
      const mustClaim = job.concurrencyGroup !== null && job.concurrencyState !== 'holding';
      const held = mustClaim ? await this.#claim(job) : job.concurrencyState;
      if (held === 'pending') this.#runChanges.change(job, { hold: 'concurrency', concurrencyState: 'pending' });
      else this.#makeWaiting(job, held);
    }
  }

  /** Checks `max-parallel` of the calls that contain the job; a call that has started continues. */
  #hasPlaceInCalls({ jobKey }: JobRow): boolean {
    const hasBegun = (call: WorkflowCall): boolean => {
      const rows = keysOfCall(this.#workflow, call).flatMap((key) => this.#runChanges.matrixJobsOf(key));
      const isActive = rows.some((one) => one.status === 'waiting' || isRunning(one.status));
      return isActive || (rows.some((one) => one.startedAt !== null) && rows.some((one) => !isFinal(one.status)));
    };
    return chainOf(this.#workflow.jobs.get(jobKey)?.call ?? null).every(
      (call) =>
        call.maxParallel === null ||
        hasBegun(call) ||
        siblingsOf(this.#workflow, call).filter(hasBegun).length < call.maxParallel,
    );
  }

  /** Matrix jobs of the same run also wait for each other. */
  async #claim(job: JobRow): Promise<'holding' | 'pending'> {
    const group = job.concurrencyGroup!;
    const isHeldHere = this.#runChanges.jobs.some(
      (one) => one !== job && one.concurrencyGroup === group && one.concurrencyState !== null,
    );
    const definition = this.#workflow.jobs.get(job.jobKey)!;
    const resolution = resolveJob(
      withoutConditions(definition),
      await this.#contextsOf(definition),
      { own: fine, calls: chainOf(definition.call).map(() => fine) },
      job.combination,
      this.#placeOf(job),
    );
    const concurrency = resolution.kind === 'go' ? resolution.matrixJobs[0]!.concurrency : null;
    const held = await claimConcurrencyGroup(this.#deps, this.#tx, this.#after, this.#runChanges.run, {
      cancelInProgress: false,
      queue: 'single',
      ...concurrency,
      group,
    });
    return isHeldHere ? 'pending' : held;
  }

  #placeOf({ jobKey, position }: JobRow): MatrixPlace {
    return { index: position % positionsPerJob, total: this.#runChanges.matrixJobsOf(jobKey).length };
  }

  #makeWaiting(job: JobRow, concurrencyState: 'holding' | null): void {
    this.#runChanges.change(job, { status: 'waiting', hold: null, waitingSince: this.#tx.now, concurrencyState });
  }

  async #contextsOf(definition: JobDefinition): Promise<JobContexts> {
    const known = this.#contexts.get(definition);
    if (known !== undefined) return known;
    this.#variables ??= Object.fromEntries(await variablesInWrite(this.#tx, this.#loaded.repository));
    const around = {
      manager: this.#tx.manager,
      settings: this.#deps.settings,
      loaded: this.#loaded,
      workflow: this.#workflow,
      variables: this.#variables,
      budget: this.#after.budget,
    };
    const contexts = await contextsOfJob(around, definition, this.#runChanges.jobs);
    this.#contexts.set(definition, contexts);
    return contexts;
  }
}

const fine = { success: true, failure: false, cancelled: false };

function withoutId({ id: _, ...rest }: JobRow): Omit<JobRow, 'id'> {
  return rest;
}
