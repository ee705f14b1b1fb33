import type { CiDeps } from '../deps.ts';
import { artifactTtlMs } from '../retention/repository-retention.ts';
import { identityContext } from './id-token-variables.ts';
import { secretsOfJob, variablesOfJob } from '../environments/environment-values.ts';
import { secretsFor } from '../secrets/secrets.ts';
import { variablesFor } from '../secrets/variables.ts';
import { jobSchema } from '../schema/job-schema.ts';
import type { JobRow } from '../schema/job-schema.ts';
import type { LoadedRun } from '../load-run.ts';
import { contextsOfJob, inputsOfCall } from '../runs/job-contexts.ts';
import type { JobContexts } from '../runs/job-contexts.ts';
import { neededJobs, outputsOf } from '../runs/needs.ts';
import type { NeededJob } from '../runs/needs.ts';
import { githubContext, nameOfWorkflow } from '../runs/run-context.ts';
import { scopeOf, strategyOf } from '../runs/resolve-job.ts';
import { positionsPerJob } from '../runs/run-changes.ts';
import { evaluateValue, textOf } from '../workflows/evaluate.ts';
import { EvaluationBudget } from '../workflows/evaluation-budget.ts';
import { chainOf } from '../workflows/workflow-calls.ts';
import type { WorkflowCall } from '../workflows/workflow.ts';
import type { Json } from '../workflows/json-value.ts';
import { runtimeTokenOf } from './runtime-token.ts';
import type { TaskRow } from '../schema/task-schema.ts';
import { taskToken } from './task-token.ts';

/** The content that a runner receives with a task. */
export interface TaskContent {
  taskId: number;
  /** YAML with exactly one job. */
  payload: string;
  context: { [key: string]: Json };
  secrets: Map<string, string>;
  variables: Map<string, string>;
  needs: Map<string, NeededJob>;
}

const debugSwitches: readonly [string, string][] = [
  ['ACTIONS_STEP_DEBUG', 'true'],
  ['ACTIONS_RUNNER_DEBUG', 'true'],
];

const dayMs = 24 * 60 * 60 * 1000;

/**
 * Builds the content of a job for a runner. Untrusted runs receive the task token under its usual names and no
 * configured secrets (security H04, H05).
 * @param origin URL at which the runner reaches this server; used without a base URL
 */
export async function taskContent(
  deps: CiDeps,
  loaded: LoadedRun,
  job: JobRow,
  task: Pick<TaskRow, 'id' | 'createdAt'>,
  origin: string | null,
): Promise<TaskContent> {
  const { run, repository, parsed } = loaded;
  const taskId = task.id;
  const { key, settings, db } = deps;
  if (!parsed.ok) throw new Error(parsed.problem.describe());
  const definition = parsed.workflow.jobs.get(job.jobKey);
  if (definition === undefined) throw new Error(`the workflow has no job ${job.jobKey}`);
  const token = taskToken(key, taskId);
  const jobs = await db.read.findBy(jobSchema, { runId: run.id, attempt: job.attempt });
  const outputs = await outputsOf(
    db.read,
    jobs.filter(({ jobKey }) => definition.waitsFor.includes(jobKey)),
  );
  const ofRepository = await variablesFor(db.read, repository);
  // The server evaluated its expressions before the job entered its environment, with the same variables.
  const variables = new Map([...ofRepository, ...(await variablesOfJob(db.read, job, run))]);
  const budget = new EvaluationBudget();
  const contexts = await contextsOfJob(
    {
      manager: db.read,
      settings,
      loaded,
      workflow: parsed.workflow,
      variables: Object.fromEntries(ofRepository),
      budget,
    },
    definition,
    jobs,
  );
  const secrets = run.isTrusted ? await secretsFor(deps, db.read, repository) : new Map<string, string>();
  const called = definition.call === null ? null : contentOfCall(definition.call, contexts, secrets);
  const siblings = jobs.filter(({ jobKey }) => jobKey === job.jobKey).length;
  const resolved = {
    workflow: nameOfWorkflow(loaded),
    name: job.name,
    combination: job.combination ?? {},
    runsOn: job.runsOn ?? [],
    continueOnError: job.continueOnError,
    strategy: strategyOf({
      failFast: job.failFast,
      maxParallel: job.maxParallel,
      index: job.position % positionsPerJob,
      total: siblings,
    }),
    inputs: called?.inputs ?? null,
  };
  const runtime = runtimeTokenOf(deps, task, job);
  const actions = settings.actionsUrl === 'self' ? (settings.baseUrl ?? origin ?? '') : settings.actionsUrl;
  return {
    taskId,
    payload: await deps.workflows.payload(deps.runs.sourceOf(run), { jobKey: definition.key, resolved }),
    context: {
      ...githubContext(loaded, { baseUrl: settings.baseUrl ?? origin }),
      job: definition.ownKey,
      token,
      retention_days: String(Math.ceil((await artifactTtlMs(deps, db.read, repository.id)) / dayMs)),
      gitea_default_actions_url: actions,
      forgejo_default_actions_url: actions,
      gitea_runtime_token: runtime,
      forgejo_runtime_token: runtime,
      ...(await identityContext(deps, loaded, job.jobKey, runtime)),
    },
    secrets: new Map([
      ...['GITHUB_TOKEN', 'GITEA_TOKEN', 'FORGEJO_TOKEN'].map((name): [string, string] => [name, token]),
      ...(called?.secrets ?? secrets),
      ...(await secretsOfJob(deps, db.read, job, run)),
      // Last, because stock runners read the switch among the secrets.
      ...(job.debug ? debugSwitches : []),
    ]),
    variables,
    needs: neededJobs(parsed.workflow, definition, jobs, outputs, budget),
  };
}

/** Inputs of a called workflow, and the secrets that each caller passes on to the next. */
function contentOfCall(
  called: WorkflowCall,
  { own, callers, budget }: JobContexts,
  secrets: ReadonlyMap<string, string>,
): { inputs: { readonly [name: string]: Json }; secrets: Iterable<[string, string]> } {
  const fine = { success: true, failure: false, cancelled: false };
  let values = own.inputs;
  let passed = secrets;
  for (const [at, call] of chainOf(called).entries()) {
    const scope = scopeOf({ ...callers[at]!, inputs: values }, fine, budget, call.combination);
    values = inputsOfCall(call, scope);
    if (call.secrets === 'inherit') continue;
    const withSecrets = { ...scope, contexts: { ...scope.contexts, secrets: Object.fromEntries(passed) } };
    passed = new Map(
      Object.entries(call.secrets).map(([name, value]): [string, string] => [
        name.toUpperCase(),
        textOf(evaluateValue(value, withSecrets)),
      ]),
    );
  }
  return { inputs: values as { readonly [name: string]: Json }, secrets: passed };
}
