import type { Tx } from '../../db/index.ts';
import type { CiDeps } from '../deps.ts';
import { variablesFor } from '../secrets/variables.ts';
import type { JobDefinition, Workflow } from '../workflows/workflow.ts';
import type { AfterCommit } from './after-commit.ts';
import { cancelJob } from './cancel-jobs.ts';
import { claimGroup } from './claim-group.ts';
import { RunChanges, maxJobsOfRun, tooManyJobs } from './run-changes.ts';
import { contextsOfJob } from './job-contexts.ts';
import type { JobContexts } from './job-contexts.ts';
import type { JobRow } from '../schema/job-schema.ts';
import type { LoadedRun } from './load-run.ts';
import { outcomesOf } from './needs.ts';
import { isFinal, isRunning } from '../run-status.ts';
import { resolveJob } from './resolve-job.ts';
import type { ResolvedMatrixJob } from './resolve-job.ts';

/**
 * Brings a run as far as it can go by itself: jobs whose needs have ended are
 * settled, failing legs end their siblings, places that came free are given away.
 * May be called at any time and again; it changes only what is due.
 */
export async function advanceRun(deps: CiDeps, tx: Tx, loaded: LoadedRun, after: AfterCommit): Promise<void> {
  const board = await RunChanges.open(deps, tx, after, loaded.run.id);
  if (board === null || isFinal(board.run.status)) return;
  await advanceJobs(deps, tx, after, board, loaded);
}

/** The same for jobs that were changed a moment ago in this write; saves the board. */
export async function advanceJobs(
  deps: CiDeps,
  tx: Tx,
  after: AfterCommit,
  board: RunChanges,
  loaded: LoadedRun,
): Promise<void> {
  const { run } = board;
  const { parsed } = loaded;
  if (!parsed.ok) {
    // The file was read once; a newer version of this program refuses it. What has not begun never will.
    const reason = `${run.workflowPath}, ${parsed.problem.describe()}`;
    if (run.concurrencyState === 'pending') run.concurrencyState = null;
    for (const job of board.jobs) if (job.hold !== null) board.change(job, { status: 'failure', reason });
    return board.save();
  }
  if (run.concurrencyState === 'pending') return board.save();
  const { workflow } = parsed;
  const advance = new Advance(deps, tx, after, board, { ...loaded, run }, workflow);
  advance.unhold();
  let before: string;
  do {
    before = advance.fingerprint();
    await advance.endSiblings();
    await advance.settleReady();
  } while (advance.fingerprint() !== before);
  await advance.startWaiting();
  await board.save();
}

class Advance {
  readonly #deps: CiDeps;
  readonly #tx: Tx;
  readonly #after: AfterCommit;
  readonly #board: RunChanges;
  readonly #loaded: LoadedRun;
  readonly #workflow: Workflow;
  #variables: Record<string, string> | null = null;
  /** Once for all legs of a job: what they need has ended, and changes no more. */
  readonly #contexts = new Map<JobDefinition, JobContexts>();

  constructor(deps: CiDeps, tx: Tx, after: AfterCommit, board: RunChanges, loaded: LoadedRun, workflow: Workflow) {
    this.#deps = deps;
    this.#tx = tx;
    this.#after = after;
    this.#board = board;
    this.#loaded = loaded;
    this.#workflow = workflow;
  }

  fingerprint(): string {
    return this.#board.jobs.map((job) => `${job.status}${job.hold}`).join();
  }

  /** The run itself waits for nobody any more; a job has been given its group, and is held to `max-parallel` again. */
  unhold(): void {
    for (const job of this.#board.jobs) {
      if (job.hold === 'run') this.#board.change(job, { hold: 'needs' });
      if (job.hold === 'concurrency' && job.concurrencyState === 'holding')
        this.#board.change(job, { hold: 'parallel' });
    }
  }

  /**
   * `fail-fast`: what is left of a matrix ends when one leg fails. A leg that was made
   * after the failure is one that somebody runs again, alone: it is not ended by the
   * failure of an earlier attempt.
   */
  async endSiblings(): Promise<void> {
    const { jobs } = this.#board;
    for (const failed of jobs.filter((job) => job.status === 'failure' && job.failFast && !job.continueOnError)) {
      for (const sibling of jobs) {
        if (sibling.jobKey !== failed.jobKey || isFinal(sibling.status) || sibling.status === 'cancelling') continue;
        if (failed.finishedAt !== null && sibling.createdAt > failed.finishedAt) continue;
        await cancelJob(this.#deps, this.#tx, this.#board, sibling, {
          reason: `Cancelled because ${failed.name} failed.`,
        });
      }
    }
  }

  async settleReady(): Promise<void> {
    for (const job of this.#board.jobs.filter((one) => one.hold === 'needs')) {
      if (this.#board.run.isCancelled) {
        this.#board.change(job, { status: 'cancelled' });
        continue;
      }
      const definition = this.#workflow.jobs.get(job.jobKey);
      const outlook = definition === undefined ? null : outcomesOf(this.#board, this.#workflow, definition);
      if (outlook === null || definition === undefined) continue;
      const settlement = resolveJob(definition, await this.#contextsOf(definition), outlook, job.leg);
      if (settlement.kind === 'skip') this.#board.change(job, { status: 'skipped' });
      else if (settlement.kind === 'fail')
        this.#board.change(job, { status: 'failure', reason: settlement.reason, failFast: settlement.failFast });
      else this.#place(job, settlement.legs);
    }
  }

  /** The first leg takes the row; a matrix that was not known before brings more. */
  #place(job: JobRow, legs: readonly ResolvedMatrixJob[]): void {
    if (this.#board.jobs.length + legs.length - 1 > maxJobsOfRun)
      return this.#board.change(job, { status: 'failure', reason: tooManyJobs });
    for (const [at, { concurrency, ...leg }] of legs.entries()) {
      const settled = { ...leg, hold: 'parallel' as const, concurrencyGroup: concurrency?.group ?? null };
      if (at === 0) this.#board.change(job, settled);
      else this.#board.add({ ...withoutId(job), ...settled, position: job.position + at });
    }
  }

  /** Lets legs begin as far as `max-parallel` and groups allow. */
  async startWaiting(): Promise<void> {
    for (const job of [...this.#board.jobs].sort((a, b) => a.position - b.position)) {
      if (job.hold !== 'parallel') continue;
      const busy = this.#board.jobs.filter(
        (one) => one.jobKey === job.jobKey && (one.status === 'waiting' || isRunning(one.status)),
      );
      if (job.maxParallel !== null && busy.length >= job.maxParallel) continue;
      const mustClaim = job.concurrencyGroup !== null && job.concurrencyState !== 'holding';
      const place = mustClaim ? await this.#claim(job) : job.concurrencyState;
      if (place === 'pending') this.#board.change(job, { hold: 'concurrency', concurrencyState: 'pending' });
      else this.#makeWaiting(job, place);
    }
  }

  /** Legs of this very run wait for each other, too. */
  async #claim(job: JobRow): Promise<'holding' | 'pending'> {
    const group = job.concurrencyGroup!;
    const isTakenHere = this.#board.jobs.some(
      (one) => one !== job && one.concurrencyGroup === group && one.concurrencyState !== null,
    );
    const definition = this.#workflow.jobs.get(job.jobKey)!;
    const settlement = resolveJob(
      { ...definition, condition: 'always()', call: definition.call && { ...definition.call, condition: 'always()' } },
      await this.#contextsOf(definition),
      { own: fine, call: fine },
      job.leg,
    );
    const concurrency = settlement.kind === 'go' ? settlement.legs[0]!.concurrency : null;
    const place = await claimGroup(
      this.#deps,
      this.#tx,
      this.#after,
      this.#board.run,
      concurrency ?? { group, cancelInProgress: false, queue: 'single' },
    );
    return isTakenHere ? 'pending' : place;
  }

  #makeWaiting(job: JobRow, concurrencyState: 'holding' | null): void {
    this.#board.change(job, { status: 'waiting', hold: null, waitingSince: this.#tx.now, concurrencyState });
  }

  async #contextsOf(definition: JobDefinition): Promise<JobContexts> {
    const known = this.#contexts.get(definition);
    if (known !== undefined) return known;
    this.#variables ??= Object.fromEntries(await variablesFor(this.#tx.manager, this.#loaded.repository));
    const around = {
      manager: this.#tx.manager,
      settings: this.#deps.settings,
      loaded: this.#loaded,
      workflow: this.#workflow,
      variables: this.#variables,
      budget: this.#after.budget,
    };
    const contexts = await contextsOfJob(around, definition, this.#board.jobs);
    this.#contexts.set(definition, contexts);
    return contexts;
  }
}

const fine = { success: true, failure: false, cancelled: false };

function withoutId({ id: _, ...rest }: JobRow): Omit<JobRow, 'id'> {
  return rest;
}
