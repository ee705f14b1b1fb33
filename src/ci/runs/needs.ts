import { In } from 'typeorm';
import type { EntityManager } from 'typeorm';
import { environmentUrlOutput } from '../workflows/environment-url.ts';
import { outputSchema } from '../schema/task-schema.ts';
import { chainOf, entryOf, jobKeysOf, keysOfCall } from '../workflows/workflow-calls.ts';
import type { JobOutcome } from '../workflows/expression-functions.ts';
import { evaluateValue, textOf } from '../workflows/evaluate.ts';
import type { EvaluationBudget } from '../workflows/evaluation-budget.ts';
import type { JobDefinition, Workflow, WorkflowCall } from '../workflows/workflow.ts';
import type { Json } from '../workflows/json-value.ts';
import type { RunChanges } from './run-changes.ts';
import type { JobRow } from '../schema/job-schema.ts';
import { statusOfMatrix } from '../run-status.ts';
import type { FinalStatus } from '../run-status.ts';

/** Results of `success()` and the like for a job, and for the calls that contain it, outermost first. */
export interface JobOutcomes {
  own: JobOutcome;
  calls: readonly JobOutcome[];
}

/**
 * The results of `success()` and `failure()` for a job; null until all its dependencies have ended. Both consider the
 * whole chain of `needs`: a failure or a skip applies to every later job, and at most one of the two is true. A called
 * workflow is a separate chain: the condition of its caller has already considered everything before it.
 */
export function outcomesOf(runChanges: RunChanges, workflow: Workflow, definition: JobDefinition): JobOutcomes | null {
  if (definition.waitsFor.some((key) => statusOfMatrix(runChanges.matrixJobsOf(key)) === null)) return null;
  const outcome = ({ needs, within, key }: Place): JobOutcome => {
    const results = ancestorsOf(workflow, { needs, within, key }).map((need) =>
      statusOfMatrix(jobKeysOf(workflow, within, need).flatMap((one) => runChanges.matrixJobsOf(one))),
    );
    return {
      success: results.every((result) => result === 'success'),
      failure: results.includes('failure'),
      cancelled: runChanges.run.isCancelled,
    };
  };
  const { needs, call, key } = definition;
  return {
    own: outcome({ needs, within: call, key }),
    calls: chainOf(call).map((one) => outcome({ needs: one.needs, within: one.outer, key: one.key })),
  };
}

/** A job or a call within its file. */
interface Place {
  key: string;
  needs: readonly string[];
  /** The call of that file; null for the file of the run. */
  within: WorkflowCall | null;
}

/** Cached per workflow: many matrix jobs share the result, and a job may have two hundred ancestors. */
const ancestors = new WeakMap<Workflow, Map<string, string[]>>();

/** The direct and indirect needs of a job, by their names in its file. */
function ancestorsOf(workflow: Workflow, { key, needs, within }: Place): string[] {
  const known = ancestors.get(workflow) ?? new Map<string, string[]>();
  ancestors.set(workflow, known);
  const before = known.get(key);
  if (before !== undefined) return before;
  const found = new Set<string>();
  const open = [...needs];
  for (let need = open.pop(); need !== undefined; need = open.pop()) {
    if (found.has(need)) continue;
    found.add(need);
    const entry = entryOf(workflow, within, need);
    open.push(...((entry.calls === null ? workflow.jobs.get(entry.key) : entry.calls[0])?.needs ?? []));
  }
  known.set(key, [...found]);
  return [...found];
}

/** Outputs of some jobs, by task. */
export async function outputsOf(
  manager: EntityManager,
  jobs: readonly JobRow[],
): Promise<Map<number, Map<string, string>>> {
  const outputs = new Map<number, Map<string, string>>();
  const taskIds = jobs.flatMap(({ taskId }) => taskId ?? []);
  if (taskIds.length === 0) return outputs;
  for (const { taskId, name, value } of await manager.findBy(outputSchema, { taskId: In(taskIds) })) {
    if (value === null || name === environmentUrlOutput) continue;
    const ofTask = outputs.get(taskId) ?? new Map<string, string>();
    outputs.set(taskId, ofTask.set(name, value));
  }
  return outputs;
}

/** One entry of `needs`, combining its matrix jobs. */
export interface NeededJob {
  result: FinalStatus;
  outputs: Map<string, string>;
}

type Outputs = ReadonlyMap<number, Map<string, string>>;
type MatrixJobsByKey = ReadonlyMap<string, readonly JobRow[]>;

/** Matrix jobs share one set of outputs: the last non-empty value of each name wins. */
function neededJob(matrixJobs: readonly JobRow[], outputs: Outputs): NeededJob {
  const merged = new Map<string, string>();
  for (const combination of [...matrixJobs].sort((a, b) => a.position - b.position)) {
    for (const [name, value] of outputs.get(combination.taskId ?? 0) ?? [])
      if (value !== '' || !merged.has(name)) merged.set(name, value);
  }
  return { result: statusOfMatrix(matrixJobs) ?? 'skipped', outputs: merged };
}

/** The outputs of calls as their file defines them; for a matrix, the last non-empty value of each name wins. */
function neededCalls(workflow: Workflow, calls: readonly WorkflowCall[], sources: Sources): NeededJob {
  const { matrixJobs, budget } = sources;
  const values = new Map<string, string>();
  for (const call of calls) {
    const names = new Set(keysOfCall(workflow, call).map((key) => key.slice(call.key.length + 1).split(/[.#]/, 1)[0]!));
    const inner = [...names].map((name): [string, NeededJob] => [name, neededEntry(workflow, call, name, sources)]);
    const contexts = { jobs: asJson(inner), github: {}, inputs: {}, vars: {} };
    for (const [name, expression] of call.outputs) {
      const value = valueOf(expression, contexts, budget);
      if (value !== '' || !values.has(name)) values.set(name, value);
    }
  }
  const jobs = calls.flatMap((call) => keysOfCall(workflow, call)).flatMap((key) => matrixJobs.get(key) ?? []);
  return { result: statusOfMatrix(jobs) ?? 'skipped', outputs: values };
}

interface Sources {
  matrixJobs: MatrixJobsByKey;
  outputs: Outputs;
  budget: EvaluationBudget;
}

function neededEntry(workflow: Workflow, within: WorkflowCall | null, need: string, sources: Sources): NeededJob {
  const { key, calls } = entryOf(workflow, within, need);
  return calls === null
    ? neededJob(sources.matrixJobs.get(key) ?? [], sources.outputs)
    : neededCalls(workflow, calls, sources);
}

/** An output that cannot be evaluated is empty, as on runners. */
function valueOf(expression: string, contexts: { [name: string]: Json }, budget: EvaluationBudget): string {
  try {
    return textOf(
      evaluateValue(expression, { contexts, outcome: { success: true, failure: false, cancelled: false }, budget }),
    );
  } catch {
    return '';
  }
}

/** The `needs` of a job, for its runner. */
export const neededJobs = (
  workflow: Workflow,
  { needs, call }: Pick<JobDefinition, 'needs' | 'call'>,
  jobs: readonly JobRow[],
  outputs: Outputs,
  budget: EvaluationBudget,
): Map<string, NeededJob> => neededBy(workflow, call, needs, { jobs, outputs, budget });

/** The `needs` of a job that calls a workflow. */
export const neededByCaller = (
  workflow: Workflow,
  { needs, outer }: WorkflowCall,
  jobs: readonly JobRow[],
  outputs: Outputs,
  budget: EvaluationBudget,
): Map<string, NeededJob> => neededBy(workflow, outer, needs, { jobs, outputs, budget });

function neededBy(
  workflow: Workflow,
  within: WorkflowCall | null,
  needs: readonly string[],
  { jobs, ...rest }: { jobs: readonly JobRow[]; outputs: Outputs; budget: EvaluationBudget },
): Map<string, NeededJob> {
  const sources = { ...rest, matrixJobs: Map.groupBy(jobs, ({ jobKey }) => jobKey) };
  return new Map(needs.map((need) => [need, neededEntry(workflow, within, need, sources)]));
}

/** Converts `needs` to a value for expressions. */
export function asJson(needed: Iterable<readonly [string, NeededJob]>): Json {
  return Object.fromEntries(
    [...needed].map(([need, { result, outputs }]) => [need, { result, outputs: Object.fromEntries(outputs) }]),
  );
}
