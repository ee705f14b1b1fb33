import type { EntityManager } from 'typeorm';
import type { CiSettings } from '../deps.ts';
import { evaluateValue, textOf } from '../workflows/evaluate.ts';
import type { EvaluationBudget } from '../workflows/evaluation-budget.ts';
import type { ExpressionScope } from '../workflows/evaluate.ts';
import { chainOf } from '../workflows/call-chain.ts';
import type { JobDefinition, Workflow, WorkflowCall } from '../workflows/workflow.ts';
import type { Json } from '../workflows/json.ts';
import type { JobRow } from '../schema/job-schema.ts';
import type { RunRow } from '../schema/run-schema.ts';
import type { LoadedRun } from './load-run.ts';
import { asJson, neededByCaller, neededJobs, outputsOf } from './needs.ts';
import { githubContext } from './run-context.ts';

/** The expression contexts of a job, apart from its matrix. */
export interface JobContexts {
  own: Contexts;
  /**
   * The contexts of the jobs that call its workflow, the outermost first; their inputs are evaluated by `callScopes`.
   */
  callers: readonly Contexts[];
  /** Evaluation budget, shared by all jobs of a write. */
  budget: EvaluationBudget;
}

export type Contexts = { readonly [name in 'github' | 'needs' | 'vars' | 'inputs']: Json };

/** @param jobs all of the run's current attempt */
export async function contextsOfJob(
  {
    manager,
    settings,
    loaded,
    workflow,
    variables,
    budget,
  }: {
    manager: EntityManager;
    settings: Pick<CiSettings, 'baseUrl'>;
    loaded: LoadedRun;
    workflow: Workflow;
    variables: Record<string, string>;
    budget: EvaluationBudget;
  },
  definition: JobDefinition,
  jobs: readonly JobRow[],
): Promise<JobContexts> {
  const outputs = await outputsOf(
    manager,
    jobs.filter((job) => definition.waitsFor.includes(job.jobKey)),
  );
  const github = githubContext(loaded, settings);
  const inputs = inputsOfRun(workflow, loaded.run);
  const own = {
    github,
    needs: asJson(neededJobs(workflow, definition, jobs, outputs, budget)),
    vars: variables,
    inputs,
  };
  const { call } = definition;
  const callers = chainOf(call).map((one) => ({
    ...own,
    needs: asJson(neededByCaller(workflow, one, jobs, outputs, budget)),
  }));
  return { own, callers, budget };
}

/**
 * The inputs of a run that a person started, with the types of the file: the payload has them as texts, and the text
 * `false` would count as true.
 */
export function inputsOfRun(
  { triggers }: Pick<Workflow, 'triggers'>,
  { eventPayload }: Pick<RunRow, 'eventPayload'>,
): Json {
  const given = (eventPayload['inputs'] ?? {}) as { [name: string]: Json };
  const typed = Object.entries(given).map(([name, value]): [string, Json] => {
    const type = triggers.dispatch?.inputs.get(name)?.type;
    if (type === 'boolean') return [name, textOf(value) === 'true'];
    if (type === 'number' && textOf(value) !== '') return [name, Number(textOf(value)) || 0];
    return [name, value];
  });
  return Object.fromEntries(typed);
}

/** The inputs of a call, as strings where the runner expects them. Throws `ExpressionProblem`. */
export function inputsOfCall({ inputs, given }: WorkflowCall, scope: ExpressionScope): { [name: string]: Json } {
  return Object.fromEntries(
    [...inputs].map(([name, { type, default: fallback }]) => {
      const value = evaluateValue(given.get(name) ?? fallback, scope);
      if (type === 'boolean') return [name, textOf(value) === 'true'];
      if (type === 'number') return [name, Number(textOf(value)) || 0];
      return [name, textOf(value)];
    }),
  );
}
