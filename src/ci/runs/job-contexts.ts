import type { EntityManager } from 'typeorm';
import type { CiSettings } from '../deps.ts';
import { evaluateValue, textOf } from '../workflows/evaluate.ts';
import type { EvaluationBudget } from '../workflows/evaluation-budget.ts';
import type { ExpressionScope } from '../workflows/evaluate.ts';
import type { JobDefinition, Workflow, WorkflowCall } from '../workflows/workflow.ts';
import type { Json } from '../workflows/json.ts';
import type { JobRow } from '../schema/job-schema.ts';
import type { LoadedRun } from './load-run.ts';
import { asJson, neededByCaller, neededJobs, outputsOf } from './needs.ts';
import { githubContext } from './run-context.ts';

/** What expressions in a job see, apart from its matrix. */
export interface JobContexts {
  own: Contexts;
  /** What the job that calls its workflow sees. */
  call: Contexts | null;
  /** What evaluating may cost, for all jobs of a write together. */
  budget: EvaluationBudget;
}

export type Contexts = { readonly [name in 'github' | 'needs' | 'vars' | 'inputs']: Json };

/** @param jobs all of the run's present attempt */
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
  const inputs = loaded.run.eventPayload.inputs ?? {};
  const own = {
    github,
    needs: asJson(neededJobs(workflow, definition, jobs, outputs, budget)),
    vars: variables,
    inputs,
  };
  const { call } = definition;
  const callers = call && { ...own, needs: asJson(neededByCaller(workflow, call, jobs, outputs, budget)) };
  return { own, call: callers, budget };
}

/** The inputs that a call gives, as texts where the runner wants texts. Throws `ExpressionProblem`. */
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
