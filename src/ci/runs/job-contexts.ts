import type { EntityManager } from 'typeorm';
import type { CiSettings } from '../deps.ts';
import { evaluateValue, textOf } from '../workflows/evaluate.ts';
import type { EvaluationBudget } from '../workflows/evaluation-budget.ts';
import type { ExpressionScope } from '../workflows/evaluate.ts';
import { chainOf } from '../workflows/workflow-calls.ts';
import type { JobDefinition, Workflow, WorkflowCall } from '../workflows/workflow.ts';
import type { Json } from '../workflows/json-value.ts';
import type { JobRow } from '../schema/job-schema.ts';
import type { RunRow } from '../schema/run-schema.ts';
import type { LoadedRun } from '../load-run.ts';
import { asJson, neededByCaller, neededJobs, outputsOf } from './needs.ts';
import { githubContext } from './run-context.ts';

/** The expression contexts of a job, except its matrix. */
export interface JobContexts {
  own: Contexts;
  /** Contexts of the jobs that call its workflow, outermost first; `callScopes` evaluates their inputs. */
  callers: readonly Contexts[];
  /** Evaluation budget, shared by all jobs of a write. */
  budget: EvaluationBudget;
}

export type Contexts = { readonly [name in 'github' | 'needs' | 'vars' | 'inputs']: Json };

/**
 * @param jobs all jobs of the current attempt of the run
 */
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
 * Inputs of a manually started run, converted to the types in the file: the payload has strings, and the string `false`
 * would be truthy.
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

/** Inputs of a call, as strings where the runner expects them. Throws `ExpressionProblem`. */
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
