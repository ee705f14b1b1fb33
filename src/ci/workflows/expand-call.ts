import { prefixOf } from './workflow-calls.ts';
import type { MatrixCombination } from './expand-matrix.ts';
import type { JobDefinition, Workflow, WorkflowCall } from './workflow.ts';

/** The evaluated strategy of a call in one run. */
export interface CallMatrix {
  /** Key of the call: `build`, or `build.pack` in the workflow that `build` calls. */
  callKey: string;
  combinations: readonly MatrixCombination[];
  failFast: boolean;
  maxParallel: number | null;
}

/** Whether some call has a strategy that can only be evaluated once its needs have ended. */
export const hasPendingCalls = ({ calls }: Pick<Workflow, 'calls'>): boolean =>
  [...calls.values()].some((list) => list.some(({ pending }) => pending !== null));

/** Adds the jobs of these calls to the workflow, once per combination; known calls stay. */
export function withCallMatrices(workflow: Workflow, matrices: readonly CallMatrix[]): Workflow {
  return matrices.reduce(expandCall, workflow);
}

/** The first combination keeps the key `build`, so that its jobs keep their keys; the others are `build#1` …. */
function expandCall(workflow: Workflow, { callKey, combinations, failFast, maxParallel }: CallMatrix): Workflow {
  const template = workflow.calls.get(callKey)?.[0];
  if (template === undefined || template.pending === null) return workflow;
  const within = `${callKey}.`;
  const clones = combinations.map((combination, at) => {
    const key = at === 0 ? callKey : `${callKey}#${at}`;
    const rename = (one: string): string => (one.startsWith(within) ? key + one.slice(callKey.length) : one);
    const moved = new Map<string, WorkflowCall>([
      [callKey, { ...template, key, combination, failFast, maxParallel, pending: null }],
    ]);
    const move = (one: WorkflowCall): WorkflowCall => {
      const known = moved.get(one.key);
      if (known !== undefined) return known;
      if (!one.key.startsWith(within)) return one;
      const made = { ...one, key: rename(one.key), outer: one.outer && move(one.outer) };
      moved.set(one.key, made);
      return made;
    };
    return { rename, move };
  });
  const jobs = new Map<string, JobDefinition>();
  const others = (key: string): string[] => (key.startsWith(within) ? clones.map(({ rename }) => rename(key)) : [key]);
  let isPlaced = false;
  for (const definition of workflow.jobs.values()) {
    if (!definition.key.startsWith(within)) {
      jobs.set(definition.key, { ...definition, waitsFor: definition.waitsFor.flatMap(others) });
      continue;
    }
    if (isPlaced) continue;
    isPlaced = true;
    const inside = [...workflow.jobs.values()].filter(({ key }) => key.startsWith(within));
    for (const { rename, move } of clones) {
      for (const one of inside) {
        const call = move(one.call!);
        const key = rename(one.key);
        jobs.set(key, { ...one, key, call, prefix: prefixOf(call), waitsFor: one.waitsFor.map(rename) });
      }
    }
  }
  const calls = new Map<string, readonly WorkflowCall[]>();
  for (const [key, list] of workflow.calls) {
    if (key === callKey)
      calls.set(
        key,
        clones.map(({ move }) => move(template)),
      );
    else if (!key.startsWith(within)) calls.set(key, list);
    else for (const { rename, move } of clones) calls.set(rename(key), list.map(move));
  }
  return { ...workflow, jobs, calls };
}

/** All calls of the matrix that contains this one. */
export const siblingsOf = ({ calls }: Pick<Workflow, 'calls'>, call: WorkflowCall): readonly WorkflowCall[] =>
  calls.get(call.key.replace(/#\d+$/, '')) ?? [call];
