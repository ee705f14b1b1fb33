import { In } from 'typeorm';
import type { EntityManager } from 'typeorm';
import { outputSchema } from '../schema/task-schema.ts';
import type { JobOutcome } from '../workflows/expression-functions.ts';
import { evaluateValue, textOf } from '../workflows/evaluate.ts';
import type { EvaluationBudget } from '../workflows/evaluation-budget.ts';
import type { JobDefinition, Workflow, WorkflowCall } from '../workflows/workflow.ts';
import type { Json } from '../workflows/json.ts';
import type { RunChanges } from './run-changes.ts';
import type { JobRow } from '../schema/job-schema.ts';
import { statusOfMatrix } from '../run-status.ts';
import type { FinalStatus } from '../run-status.ts';

/** The results of `success()` and the like for a job, and for the call that contains it. */
export interface JobOutcomes {
  own: JobOutcome;
  call: JobOutcome | null;
}

/**
 * The results of `success()` and `failure()` for a job; null while one of its dependencies has not ended. `success()`
 * requires all of `needs`; `failure()` is true when any earlier job failed.
 */
export function outcomesOf(runChanges: RunChanges, workflow: Workflow, definition: JobDefinition): JobOutcomes | null {
  if (definition.waitsFor.some((key) => statusOfMatrix(runChanges.matrixJobsOf(key)) === null)) return null;
  const failure = ancestorsOf(workflow, definition).some(
    (key) => statusOfMatrix(runChanges.matrixJobsOf(key)) === 'failure',
  );
  const outcome = (needs: readonly string[], keysOf: (need: string) => readonly string[]): JobOutcome => ({
    success: needs.every(
      (need) => statusOfMatrix(keysOf(need).flatMap((key) => runChanges.matrixJobsOf(key))) === 'success',
    ),
    failure,
    cancelled: runChanges.run.isCancelled,
  });
  const { call } = definition;
  return {
    own: outcome(definition.needs, (need) => keysOfNeed(workflow, definition, need)),
    call: call && outcome(call.needs, (need) => keysOfCaller(workflow, need)),
  };
}

const keysOfCaller = ({ calls }: Workflow, need: string): readonly string[] => calls.get(need)?.jobKeys ?? [need];

/** The jobs that a name under `needs` stands for: a call has several. */
const keysOfNeed = (workflow: Workflow, { call }: JobDefinition, need: string): readonly string[] =>
  call === null ? keysOfCaller(workflow, need) : [`${call.key}.${need}`];

/** Cached per workflow: many matrix jobs ask for the same, and a job may have a chain of two hundred ancestors. */
const ancestors = new WeakMap<Workflow, Map<string, string[]>>();

function ancestorsOf(workflow: Workflow, { key: first }: JobDefinition): string[] {
  const known = ancestors.get(workflow) ?? new Map<string, string[]>();
  ancestors.set(workflow, known);
  const before = known.get(first);
  if (before !== undefined) return before;
  const found = new Set<string>();
  const open = [first];
  for (let key = open.pop(); key !== undefined; key = open.pop()) {
    for (const need of workflow.jobs.get(key)?.waitsFor ?? []) {
      if (!found.has(need)) open.push(need);
      found.add(need);
    }
  }
  known.set(first, [...found]);
  return [...found];
}

/** Outputs of some jobs by their tasks. */
export async function outputsOf(
  manager: EntityManager,
  jobs: readonly JobRow[],
): Promise<Map<number, Map<string, string>>> {
  const outputs = new Map<number, Map<string, string>>();
  const taskIds = jobs.flatMap(({ taskId }) => taskId ?? []);
  if (taskIds.length === 0) return outputs;
  for (const { taskId, name, value } of await manager.findBy(outputSchema, { taskId: In(taskIds) })) {
    if (value === null) continue;
    const ofTask = outputs.get(taskId) ?? new Map<string, string>();
    outputs.set(taskId, ofTask.set(name, value));
  }
  return outputs;
}

/** One entry of `needs`: its matrix jobs combined. */
export interface NeededJob {
  result: FinalStatus;
  outputs: Map<string, string>;
}

type Outputs = ReadonlyMap<number, Map<string, string>>;
type MatrixJobsByKey = ReadonlyMap<string, readonly JobRow[]>;

/** Matrix jobs share one set of outputs: the last non-empty value of each name. */
function neededJob(matrixJobs: readonly JobRow[], outputs: Outputs): NeededJob {
  const merged = new Map<string, string>();
  for (const combination of [...matrixJobs].sort((a, b) => a.position - b.position)) {
    for (const [name, value] of outputs.get(combination.taskId ?? 0) ?? [])
      if (value !== '' || !merged.has(name)) merged.set(name, value);
  }
  return { result: statusOfMatrix(matrixJobs) ?? 'skipped', outputs: merged };
}

/** The outputs of a call, as its file defines them. */
function neededCall(
  call: WorkflowCall,
  matrixJobs: MatrixJobsByKey,
  outputs: Outputs,
  budget: EvaluationBudget,
): NeededJob {
  const inner = call.jobKeys.map((key): [string, NeededJob] => [
    key.slice(call.key.length + 1),
    neededJob(matrixJobs.get(key) ?? [], outputs),
  ]);
  const contexts = { jobs: asJson(inner), github: {}, inputs: {}, vars: {} };
  const values = [...call.outputs].map(([name, expression]): [string, string] => [
    name,
    valueOf(expression, contexts, budget),
  ]);
  return {
    result: statusOfMatrix(call.jobKeys.flatMap((key) => matrixJobs.get(key) ?? [])) ?? 'skipped',
    outputs: new Map(values),
  };
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
export function neededJobs(
  workflow: Workflow,
  definition: JobDefinition,
  jobs: readonly JobRow[],
  outputs: Outputs,
  budget: EvaluationBudget,
): Map<string, NeededJob> {
  const matrixJobs = Map.groupBy(jobs, ({ jobKey }) => jobKey);
  return new Map(
    definition.needs.map((need) => {
      const call = definition.call === null ? workflow.calls.get(need) : undefined;
      if (call !== undefined) return [need, neededCall(call, matrixJobs, outputs, budget)];
      const [key] = keysOfNeed(workflow, definition, need);
      return [need, neededJob(matrixJobs.get(key!) ?? [], outputs)];
    }),
  );
}

/** The `needs` of the job that calls a job's workflow. */
export function neededByCaller(
  workflow: Workflow,
  { needs }: WorkflowCall,
  jobs: readonly JobRow[],
  outputs: Outputs,
  budget: EvaluationBudget,
): Map<string, NeededJob> {
  const matrixJobs = Map.groupBy(jobs, ({ jobKey }) => jobKey);
  return new Map(
    needs.map((need) => {
      const call = workflow.calls.get(need);
      return [
        need,
        call === undefined
          ? neededJob(matrixJobs.get(need) ?? [], outputs)
          : neededCall(call, matrixJobs, outputs, budget),
      ];
    }),
  );
}

/** The same for expressions. */
export function asJson(needed: Iterable<readonly [string, NeededJob]>): Json {
  return Object.fromEntries(
    [...needed].map(([need, { result, outputs }]) => [need, { result, outputs: Object.fromEntries(outputs) }]),
  );
}
