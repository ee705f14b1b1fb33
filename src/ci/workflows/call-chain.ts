import type { JobDefinition, Workflow, WorkflowCall } from './workflow.ts';

/** The calls that a job stands in, the outermost first. */
export function chainOf(call: WorkflowCall | null): WorkflowCall[] {
  const chain: WorkflowCall[] = [];
  for (let at = call; at !== null; at = at.outer) chain.unshift(at);
  return chain;
}

/** What a name under `needs` stands for, in the file that is called by `within`; null for the file of the run. */
export type NeededEntry = { key: string; calls: null } | { key: string; calls: readonly WorkflowCall[] };

/** A job, or the calls of a job that calls a workflow: one for each combination of its matrix. */
export function entryOf({ calls }: Pick<Workflow, 'calls'>, within: WorkflowCall | null, need: string): NeededEntry {
  const key = within === null ? need : `${within.key}.${need}`;
  return { key, calls: calls.get(key) ?? null };
}

/** Keys of all jobs that a name under `needs` stands for. */
export function jobKeysOf(workflow: Pick<Workflow, 'calls'>, within: WorkflowCall | null, need: string): string[] {
  const { key, calls } = entryOf(workflow, within, need);
  return calls === null ? [key] : calls.flatMap(({ jobKeys }) => jobKeys);
}

/** A job that runs whatever its own conditions and those of its callers say. */
export const withoutConditions = (definition: JobDefinition): JobDefinition => ({
  ...definition,
  condition: 'always()',
  call: always(definition.call),
});

const always = (call: WorkflowCall | null): WorkflowCall | null =>
  call && { ...call, condition: 'always()', outer: always(call.outer) };
