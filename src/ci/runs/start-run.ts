import type { Tx } from '../../db/index.ts';
import type { Repository } from '../../repositories/index.ts';
import type { CiDeps } from '../deps.ts';
import { variablesInWrite } from '../secrets/variables.ts';
import { evaluateValue, mentionsContext, textOf } from '../workflows/evaluate.ts';
import type { ExpressionScope } from '../workflows/evaluate.ts';
import { expandMatrix } from '../workflows/expand-matrix.ts';
import type { MatrixCombination } from '../workflows/expand-matrix.ts';
import type { ParsedWorkflow } from '../workflows/parse-workflow.ts';
import type { JobDefinition, Workflow } from '../workflows/workflow.ts';
import { hashOf } from '../workflows/workflow-reader.ts';
import { advanceJobs } from './advance-run.ts';
import type { AfterCommit } from './after-commit.ts';
import { claimConcurrencyGroup, concurrencyGroupOf } from './claim-concurrency-group.ts';
import { RunChanges, maxJobsOfRun, positionsPerJob, tooManyJobs } from './run-changes.ts';
import { contextOf, setRunProblem } from './job-commit-status.ts';
import type { LoadedRun } from '../load-run.ts';
import { recordRunEvent } from './record-run-event.ts';
import { inputsOfRun } from './job-contexts.ts';
import { githubContext } from './run-context.ts';
import { outsideEnvironments } from '../schema/job-schema.ts';
import { runNumberSchema, runSchema, workflowFileSchema } from '../schema/run-schema.ts';
import type { RunRow } from '../schema/run-schema.ts';
import { earlyName, resolveConcurrency, skippedName } from './resolve-job.ts';
import type { ResolvedConcurrency } from './resolve-job.ts';

/** A run to be created. */
export interface NewRun
  extends Pick<RunRow, 'event' | 'eventPayload' | 'ref' | 'sha' | 'isTrusted' | 'approval' | 'actorId'> {
  workflowPath: string;
  /** Its folder from the root: `.hearth/workflows`. */
  workflowFolder: string;
  /** The file as it is in the commit. */
  content: string;
  parsed: ParsedWorkflow;
  /** Default title of the run: the subject of the commit. */
  title: string;
  /** Title of the deploy key whose push starts the run. */
  deployKey?: string | null;
}

/** Repository, owner and actor of a run, read before the write. */
export type RunSource = Pick<LoadedRun, 'repository' | 'owner' | 'actor' | 'isProtected'>;

const maxTitleLength = 255;
/** Job limit of all workflows that one push starts. */
const maxJobsOfPush = 4 * maxJobsOfRun;
const tooManyJobsOfPush = `The workflows of one push have at most ${maxJobsOfPush} jobs together.`;

/**
 * Creates a run with its jobs and advances it. An invalid file creates a failed run with position and reason of the
 * error.
 * @returns the row of the run
 */
export async function startRun(
  deps: CiDeps,
  tx: Tx,
  after: AfterCommit,
  source: RunSource,
  input: NewRun,
): Promise<RunRow> {
  const { repository } = source;
  const run = await insertRun(tx, repository, input);
  await recordRunEvent(tx, run, 'requested');
  after.changed.add(run.id);
  if (!input.parsed.ok) return failRun(deps, tx, run, run.reason!);
  const { workflow } = input.parsed;
  const loaded: LoadedRun = { ...source, run, attemptActor: source.actor, parsed: input.parsed };
  const scope = await scopeOfRun(deps, tx, after, loaded);
  const head = evaluateHead(workflow, scope);
  if (head instanceof Error) return failRun(deps, tx, run, head.message);
  const early = [...workflow.jobs.values()].map((definition) => ({
    definition,
    matrixJobs: earlyMatrixJobs(definition, scope),
  }));
  const count = early.reduce((sum, { matrixJobs }) => sum + matrixJobs.length, 0);
  after.jobs += count;
  if (after.jobs > maxJobsOfPush) return failRun(deps, tx, run, tooManyJobsOfPush);
  if (count > maxJobsOfRun) return failRun(deps, tx, run, `${run.workflowPath}, line 1, column 1: ${tooManyJobs}`);
  if (head.title !== null) {
    run.title = head.title;
    await tx.manager.update(runSchema, { id: run.id }, { title: run.title });
  }
  // A run without approval neither waits in a group nor cancels its holder.
  if (run.approval !== 'waiting') await claimGroupFor(deps, tx, after, run, head.concurrency);
  const runChanges = (await RunChanges.open(deps, tx, after, run.id))!;
  for (const job of earlyJobs(run, early, tx.now)) runChanges.add(job);
  await advanceJobs(deps, tx, after, runChanges, loaded);
  return runChanges.run;
}

async function claimGroupFor(
  deps: CiDeps,
  tx: Tx,
  after: AfterCommit,
  run: RunRow,
  concurrency: ResolvedConcurrency | null,
): Promise<void> {
  if (concurrency === null) return;
  const claimed = { ...concurrency, group: concurrencyGroupOf(run, concurrency.group) };
  run.concurrencyGroup = claimed.group;
  run.concurrencyState = await claimConcurrencyGroup(deps, tx, after, run, claimed);
  const { concurrencyGroup, concurrencyState } = run;
  await tx.manager.update(runSchema, { id: run.id }, { concurrencyGroup, concurrencyState });
}

/**
 * Claims the group of a run that starts later than it was created. Returns the current error of `concurrency`, or null.
 */
export async function claimGroupOfRun(
  deps: CiDeps,
  tx: Tx,
  after: AfterCommit,
  loaded: LoadedRun,
): Promise<Error | null> {
  if (!loaded.parsed.ok) return null;
  const head = evaluateHead(loaded.parsed.workflow, await scopeOfRun(deps, tx, after, loaded));
  if (head instanceof Error) return head;
  await claimGroupFor(deps, tx, after, loaded.run, head.concurrency);
  return null;
}

async function insertRun({ manager, now }: Tx, repository: Repository, input: NewRun): Promise<RunRow> {
  const { parsed, content } = input;
  const fileHash = hashOf(content);
  if (!(await manager.existsBy(workflowFileSchema, { hash: fileHash })))
    await manager.insert(workflowFileSchema, { hash: fileHash, content });
  const last = await manager.findOne(runSchema, {
    where: { repositoryId: repository.id },
    order: { number: 'DESC' },
    select: { id: true, number: true },
  });
  const removed = await manager.findOneBy(runNumberSchema, { repositoryId: repository.id });
  const row: Omit<RunRow, 'id'> = {
    repositoryId: repository.id,
    number: Math.max(last?.number ?? 0, removed?.last ?? 0) + 1,
    workflowPath: input.workflowPath,
    workflowFolder: input.workflowFolder,
    workflowName: (parsed.ok ? parsed.workflow.name : parsed.name).slice(0, maxTitleLength),
    fileHash,
    title: input.title.slice(0, maxTitleLength),
    event: input.event,
    eventPayload: input.eventPayload,
    ref: input.ref,
    sha: input.sha,
    isTrusted: input.isTrusted,
    approval: input.approval,
    approvedBy: null,
    approvedAt: null,
    actorId: input.actorId,
    deployKey: input.deployKey ?? null,
    attempt: 1,
    attemptActorId: input.actorId,
    status: parsed.ok ? 'blocked' : 'failure',
    reason: parsed.ok ? null : `${input.workflowPath}, ${parsed.problem.describe()}`,
    isCancelled: false,
    concurrencyGroup: null,
    concurrencyState: null,
    createdAt: now,
    startedAt: null,
    finishedAt: parsed.ok ? null : now,
  };
  const { identifiers } = await manager.insert(runSchema, row as never);
  return { ...row, id: identifiers[0]!.id as number };
}

async function scopeOfRun(deps: CiDeps, tx: Tx, after: AfterCommit, loaded: LoadedRun): Promise<ExpressionScope> {
  const github = githubContext(loaded, deps.settings);
  return {
    contexts: {
      github,
      gitea: github,
      forgejo: github,
      vars: Object.fromEntries(await variablesInWrite(tx, loaded.repository)),
      inputs: loaded.parsed.ok ? inputsOfRun(loaded.parsed.workflow, loaded.run) : {},
    },
    outcome: { success: true, failure: false, cancelled: false },
    budget: after.budget,
  };
}

/** Evaluates `run-name` and `concurrency` of the file, or returns their error. */
function evaluateHead(
  { runName, concurrency }: Workflow,
  scope: ExpressionScope,
): { title: string | null; concurrency: ResolvedConcurrency | null } | Error {
  try {
    const title = runName === null ? '' : textOf(evaluateValue(runName, scope)).trim().slice(0, maxTitleLength);
    return { title: title === '' ? null : title, concurrency: resolveConcurrency(concurrency, scope) };
  } catch (error) {
    return error as Error;
  }
}

/** Ends a run before it has jobs; its commit status shows the reason. */
async function failRun(deps: CiDeps, tx: Tx, run: RunRow, reason: string): Promise<RunRow> {
  Object.assign(run, { status: 'failure', reason, finishedAt: tx.now });
  await tx.manager.update(runSchema, { id: run.id }, { status: 'failure', reason, finishedAt: tx.now });
  await setRunProblem(deps, tx, run, reason);
  for (const listener of deps.endings) await listener(tx, run);
  return run;
}

/** All jobs of the file, with their matrices as far as they are known. */
function earlyJobs(
  run: RunRow,
  jobs: readonly { definition: JobDefinition; matrixJobs: (MatrixCombination | null)[] }[],
  now: number,
) {
  return jobs.flatMap(({ definition, matrixJobs }, place) =>
    matrixJobs.map((combination, at) => ({
      runId: run.id,
      repositoryId: run.repositoryId,
      attempt: run.attempt,
      jobKey: definition.key,
      position: place * positionsPerJob + at,
      name: earlyName(definition, combination),
      needs: [...definition.waitsFor],
      combination,
      runsOn: null,
      continueOnError: false,
      failFast: true,
      maxParallel: null,
      status: 'blocked' as const,
      hold: run.concurrencyState === 'pending' || run.approval === 'waiting' ? ('run' as const) : ('needs' as const),
      reason: null,
      concurrencyGroup: null,
      concurrencyState: null,
      taskId: null,
      losses: 0,
      debug: false,
      ...outsideEnvironments,
      lostRunner: null,
      createdAt: now,
      waitingSince: null,
      startedAt: null,
      finishedAt: null,
    })),
  );
}

/** The checks that a workflow would report: names of its jobs as far as they are known without a run. */
export function earlyChecks(workflow: Workflow, event: RunRow['event']): string[] {
  const scope = { contexts: {}, outcome: { success: true, failure: false, cancelled: false } };
  return [...workflow.jobs.values()].flatMap((definition) =>
    earlyMatrixJobs(definition, scope).map((combination, index, { length: total }) =>
      contextOf(
        { workflowName: workflow.name.slice(0, maxTitleLength), event },
        skippedName(definition, combination, scope, { index, total }),
      ),
    ),
  );
}

/** A matrix that depends on other jobs or cannot be evaluated is one row until the job is resolved. */
function earlyMatrixJobs(
  { matrix, waitsFor, call }: JobDefinition,
  scope: ExpressionScope,
): (MatrixCombination | null)[] {
  try {
    if (waitsFor.length > 0 && mentionsContext(matrix, 'needs')) return [null];
    if (call !== null && mentionsContext(matrix, 'inputs')) return [null];
    return expandMatrix(evaluateValue(matrix, scope), scope.budget);
  } catch {
    return [null];
  }
}
