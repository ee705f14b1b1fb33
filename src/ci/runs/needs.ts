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

/** What `success()` and its like answer for a job, and for the call that it stands in. */
export interface JobOutcomes {
  own: JobOutcome;
  call: JobOutcome | null;
}

/**
 * What `success()` and `failure()` answer for a job; null while something that it
 * waits for has not ended. Everything that it needs must have gone well for the one;
 * for the other, anything before it may have failed.
 */
export function outcomesOf(board: RunChanges, workflow: Workflow, definition: JobDefinition): JobOutcomes | null {
  if (definition.waitsFor.some((key) => statusOfMatrix(board.matrixJobsOf(key)) === null)) return null;
  const failure = ancestorsOf(workflow, definition).some(
    (key) => statusOfMatrix(board.matrixJobsOf(key)) === 'failure',
  );
  const outlook = (needs: readonly string[], keysOf: (need: string) => readonly string[]): JobOutcome => ({
    success: needs.every(
      (need) => statusOfMatrix(keysOf(need).flatMap((key) => board.matrixJobsOf(key))) === 'success',
    ),
    failure,
    cancelled: board.run.isCancelled,
  });
  const { call } = definition;
  return {
    own: outlook(definition.needs, (need) => keysOfNeed(workflow, definition, need)),
    call: call && outlook(call.needs, (need) => keysOfCaller(workflow, need)),
  };
}

const keysOfCaller = ({ calls }: Workflow, need: string): readonly string[] => calls.get(need)?.jobKeys ?? [need];

/** The jobs that a name under `needs` means: those of a call are many. */
const keysOfNeed = (workflow: Workflow, { call }: JobDefinition, need: string): readonly string[] =>
  call === null ? keysOfCaller(workflow, need) : [`${call.key}.${need}`];

/** Of each workflow once: many legs ask the same, and a job may have a chain of two hundred behind it. */
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

/** One job that another one needs: its legs together. */
export interface NeededJob {
  result: FinalStatus;
  outputs: Map<string, string>;
}

type Outputs = ReadonlyMap<number, Map<string, string>>;
type LegsByKey = ReadonlyMap<string, readonly JobRow[]>;

/** Legs of a matrix give one set of outputs: of each name the last that is not empty. */
function neededJob(legs: readonly JobRow[], outputs: Outputs): NeededJob {
  const merged = new Map<string, string>();
  for (const leg of [...legs].sort((a, b) => a.position - b.position)) {
    for (const [name, value] of outputs.get(leg.taskId ?? 0) ?? [])
      if (value !== '' || !merged.has(name)) merged.set(name, value);
  }
  return { result: statusOfMatrix(legs) ?? 'skipped', outputs: merged };
}

/** What a call gives: what its file says of the jobs in it. */
function neededCall(call: WorkflowCall, legs: LegsByKey, outputs: Outputs, budget: EvaluationBudget): NeededJob {
  const inner = call.jobKeys.map((key): [string, NeededJob] => [
    key.slice(call.key.length + 1),
    neededJob(legs.get(key) ?? [], outputs),
  ]);
  const contexts = { jobs: asJson(inner), github: {}, inputs: {}, vars: {} };
  const values = [...call.outputs].map(([name, expression]): [string, string] => [
    name,
    valueOf(expression, contexts, budget),
  ]);
  return {
    result: statusOfMatrix(call.jobKeys.flatMap((key) => legs.get(key) ?? [])) ?? 'skipped',
    outputs: new Map(values),
  };
}

/** An output that cannot be worked out is empty, as on runners. */
function valueOf(expression: string, contexts: { [name: string]: Json }, budget: EvaluationBudget): string {
  try {
    return textOf(
      evaluateValue(expression, { contexts, outlook: { success: true, failure: false, cancelled: false }, budget }),
    );
  } catch {
    return '';
  }
}

/** Everything that a job names under `needs`, as its runner is told. */
export function neededJobs(
  workflow: Workflow,
  definition: JobDefinition,
  jobs: readonly JobRow[],
  outputs: Outputs,
  budget: EvaluationBudget,
): Map<string, NeededJob> {
  const legs = Map.groupBy(jobs, ({ jobKey }) => jobKey);
  return new Map(
    definition.needs.map((need) => {
      const call = definition.call === null ? workflow.calls.get(need) : undefined;
      if (call !== undefined) return [need, neededCall(call, legs, outputs, budget)];
      const [key] = keysOfNeed(workflow, definition, need);
      return [need, neededJob(legs.get(key!) ?? [], outputs)];
    }),
  );
}

/** What the caller of a job's workflow needs. */
export function neededByCaller(
  workflow: Workflow,
  { needs }: WorkflowCall,
  jobs: readonly JobRow[],
  outputs: Outputs,
  budget: EvaluationBudget,
): Map<string, NeededJob> {
  const legs = Map.groupBy(jobs, ({ jobKey }) => jobKey);
  return new Map(
    needs.map((need) => {
      const call = workflow.calls.get(need);
      return [
        need,
        call === undefined ? neededJob(legs.get(need) ?? [], outputs) : neededCall(call, legs, outputs, budget),
      ];
    }),
  );
}

/** The same as expressions see it. */
export function asJson(needed: Iterable<readonly [string, NeededJob]>): Json {
  return Object.fromEntries(
    [...needed].map(([need, { result, outputs }]) => [need, { result, outputs: Object.fromEntries(outputs) }]),
  );
}
