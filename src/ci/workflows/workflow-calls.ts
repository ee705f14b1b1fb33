import { evaluateValue, textOf } from './evaluate.ts';
import { EvaluationBudget } from './evaluation-budget.ts';
import { combinationName } from './expand-matrix.ts';
import type { JobDefinition, Workflow, WorkflowCall } from './workflow.ts';

/** The calls that contain a job, outermost first. */
export function chainOf(call: WorkflowCall | null): WorkflowCall[] {
  const chain: WorkflowCall[] = [];
  for (let at = call; at !== null; at = at.outer) chain.unshift(at);
  return chain;
}

/** The target of a name under `needs`, in the file called by `within`; null for the file of the run. */
type NeededEntry = { key: string; calls: null } | { key: string; calls: readonly WorkflowCall[] };

/** A job, or the calls of a job that calls a workflow, one per combination of its matrix. */
export function entryOf({ calls }: Pick<Workflow, 'calls'>, within: WorkflowCall | null, need: string): NeededEntry {
  const key = within === null ? need : `${within.key}.${need}`;
  return { key, calls: calls.get(key) ?? null };
}

/** A parsed file, in the worker or as a workflow. */
interface Keyed extends Pick<Workflow, 'calls'> {
  jobs: ReadonlyMap<string, unknown>;
}

/** Keys of all jobs that a name under `needs` refers to. */
export function jobKeysOf(workflow: Keyed, within: WorkflowCall | null, need: string): string[] {
  const { key, calls } = entryOf(workflow, within, need);
  return calls === null ? [key] : calls.flatMap((call) => keysOfCall(workflow, call));
}

/** Read many times per workflow, by each job that needs a call. */
const keysByCall = new WeakMap<Keyed['jobs'], Map<string, string[]>>();

/** Keys of the jobs that replace a call. */
export function keysOfCall({ jobs }: Pick<Keyed, 'jobs'>, { key }: WorkflowCall): readonly string[] {
  let known = keysByCall.get(jobs);
  if (known === undefined) {
    keysByCall.set(jobs, (known = new Map()));
    for (const jobKey of jobs.keys()) {
      for (let at = jobKey.indexOf('.'); at !== -1; at = jobKey.indexOf('.', at + 1)) {
        const call = jobKey.slice(0, at);
        const list = known.get(call);
        if (list === undefined) known.set(call, [jobKey]);
        else list.push(jobKey);
      }
    }
  }
  return known.get(key) ?? [];
}

/** A job that runs regardless of its own conditions and those of its callers. */
export const withoutConditions = (definition: JobDefinition): JobDefinition => ({
  ...definition,
  condition: 'always()',
  call: always(definition.call),
});

const always = (call: WorkflowCall | null): WorkflowCall | null =>
  call && { ...call, condition: 'always()', outer: always(call.outer) };

/** Prefix of the names of the jobs of a call: `build (linux) / pack / `. */
export const prefixOf = (call: WorkflowCall | null): string =>
  chainOf(call)
    .map((one) => `${nameOf(one)} / `)
    .join('');

/** `build (linux)`, unless the name itself contains the combination. */
function nameOf({ name, combination }: WorkflowCall): string {
  const suffix = combinationName(combination);
  if (!name.includes('${{')) return suffix === '' ? name : `${name} (${suffix})`;
  try {
    const contexts = { github: {}, needs: {}, vars: {}, inputs: {}, matrix: combination };
    const outcome = { success: true, failure: false, cancelled: false };
    return textOf(evaluateValue(name, { contexts, outcome, budget: new EvaluationBudget() }));
  } catch {
    return name;
  }
}
