import {
  ExpressionProblem,
  evaluateCondition,
  evaluateValue,
  isTruthy,
  readCount,
  textOf,
} from '../workflows/evaluate.ts';
import type { ExpressionScope } from '../workflows/evaluate.ts';
import { BudgetSpent } from '../workflows/evaluation-budget.ts';
import type { EvaluationBudget } from '../workflows/evaluation-budget.ts';
import type { JobOutcome } from '../workflows/expression-functions.ts';
import { expandMatrix, combinationName, MatrixProblem } from '../workflows/expand-matrix.ts';
import type { MatrixCombination } from '../workflows/expand-matrix.ts';
import type { CallMatrix } from '../workflows/expand-call.ts';
import type { CallStrategy, JobDefinition } from '../workflows/workflow.ts';
import type { Json } from '../workflows/json-value.ts';
import { chainOf } from '../workflows/workflow-calls.ts';
import { faultOfEnvironmentName } from '../workflows/environment-name.ts';
import { inputsOfCall } from './job-contexts.ts';
import type { Contexts, JobContexts } from './job-contexts.ts';
import type { JobOutcomes } from './needs.ts';

/** One matrix job with all server-side expressions evaluated. */
export interface ResolvedMatrixJob {
  combination: MatrixCombination;
  name: string;
  runsOn: string[];
  continueOnError: boolean;
  failFast: boolean;
  maxParallel: number | null;
  concurrency: ResolvedConcurrency | null;
  environment: string | null;
  /** Null if only the runner can evaluate it. */
  environmentUrl: string | null;
  makesDeployment: boolean;
}

export interface ResolvedConcurrency {
  group: string;
  cancelInProgress: boolean;
  queue: 'single' | 'max';
}

/** Position of a job in its matrix, from 0; a job without a matrix is alone in its own. */
export interface MatrixPlace {
  index: number;
  total: number;
}

/** The context `strategy`, with GitHub's names and defaults. */
export const strategyOf = ({
  failFast,
  maxParallel,
  index,
  total,
}: { failFast: boolean; maxParallel: number | null } & MatrixPlace) => ({
  'fail-fast': failFast,
  'job-index': index,
  'job-total': total,
  'max-parallel': maxParallel ?? total,
});

type Resolution =
  | { kind: 'go'; matrixJobs: ResolvedMatrixJob[] }
  | { kind: 'skip' }
  /** A call that contains the job must be expanded first. */
  | { kind: 'expand'; matrix: CallMatrix }
  /** `failFast` from the file, as far as it could be evaluated. */
  | { kind: 'fail'; reason: string; failFast: boolean };

const maxNameLength = 255;
const maxLabels = 50;

/**
 * Resolves a job whose needs have ended: whether it runs, with which matrix, and on which runners. An expression that
 * cannot be evaluated fails the job with a message.
 * @param combination the matrix combination to resolve; null if the matrix is not expanded yet
 * @param place position of the combination in its matrix
 */
export function resolveJob(
  definition: JobDefinition,
  { own, callers, budget }: JobContexts,
  outcomes: JobOutcomes,
  combination: MatrixCombination | null,
  place: MatrixPlace = { index: 0, total: 1 },
): Resolution {
  try {
    let { inputs } = own;
    for (const [at, call] of chainOf(definition.call).entries()) {
      const scope = scopeOf({ ...callers[at]!, inputs }, outcomes.calls[at]!, budget, call.combination);
      if (!evaluateCondition(call.condition, scope)) return { kind: 'skip' };
      if (call.pending !== null) return { kind: 'expand', matrix: evaluateStrategy(call.key, call.pending, scope) };
      inputs = inputsOfCall(call, scope);
    }
    const contexts = { ...own, inputs };
    const outcome = outcomes.own;
    const scope = scopeOf(contexts, outcome, budget);
    if (!evaluateCondition(definition.condition, scope)) return { kind: 'skip' };
    if (definition.unsupported !== null) throw new ResolveProblem(definition.unsupported);
    const matrixJobs =
      combination === null ? expandMatrix(evaluateValue(definition.matrix, scope), budget) : [combination];
    return {
      kind: 'go',
      matrixJobs: matrixJobs.map((one, index) =>
        resolveMatrixJob(definition, contexts, outcome, budget, {
          combination: one,
          place: combination === null ? { index, total: matrixJobs.length } : place,
        }),
      ),
    };
  } catch (error) {
    if (!isProblem(error)) throw error;
    return { kind: 'fail', reason: error.message, failFast: error instanceof MatrixJobProblem ? error.failFast : true };
  }
}

function evaluateStrategy(
  callKey: string,
  { matrix, failFast, maxParallel }: CallStrategy,
  scope: ExpressionScope,
): CallMatrix {
  return {
    callKey,
    combinations: expandMatrix(evaluateValue(matrix, scope), scope.budget),
    failFast: isTruthy(evaluateValue(failFast, scope)),
    maxParallel: readCount(evaluateValue(maxParallel, scope)),
  };
}

class ResolveProblem extends Error {}

/** A problem of one matrix job, found after its strategy was read. */
class MatrixJobProblem extends ResolveProblem {
  readonly failFast: boolean;

  constructor(message: string, failFast: boolean) {
    super(message);
    this.failFast = failFast;
  }
}

/** Errors whose messages are shown to the author of the file. */
const problems = [ExpressionProblem, MatrixProblem, BudgetSpent, ResolveProblem];
const isProblem = (error: unknown): error is Error => problems.some((kind) => error instanceof kind);

/** `github` has two aliases on runners, which also work here. */
export function scopeOf(
  contexts: Contexts,
  outcome: JobOutcome,
  budget: EvaluationBudget,
  matrix: MatrixCombination = {},
  strategy: Json = {},
): ExpressionScope {
  const { github } = contexts;
  return { contexts: { ...contexts, gitea: github, forgejo: github, matrix, strategy }, outcome, budget };
}

function resolveMatrixJob(
  definition: JobDefinition,
  contexts: Contexts,
  outcome: JobOutcome,
  budget: EvaluationBudget,
  { combination, place }: { combination: MatrixCombination; place: MatrixPlace },
): ResolvedMatrixJob {
  const plain = scopeOf(contexts, outcome, budget, combination);
  const failFast = isTruthy(evaluateValue(definition.failFast, plain));
  const maxParallel = readCount(evaluateValue(definition.maxParallel, plain));
  const scope = scopeOf(contexts, outcome, budget, combination, strategyOf({ failFast, maxParallel, ...place }));
  try {
    return {
      combination,
      name: nameOf(definition, combination, scope),
      runsOn: readLabels(evaluateValue(definition.runsOn, scope)),
      continueOnError: isTruthy(evaluateValue(definition.continueOnError, scope)),
      failFast,
      maxParallel,
      concurrency: resolveConcurrency(definition.concurrency, scope),
      ...resolveEnvironment(definition, scope),
    };
  } catch (error) {
    throw isProblem(error) ? new MatrixJobProblem(error.message, failFast) : error;
  }
}

/** Name of a matrix job: `build (linux, 18)`, unless the name in the file contains the combination. */
function nameOf(definition: JobDefinition, combination: MatrixCombination, scope: ExpressionScope): string {
  const given = definition.name;
  const containsExpression = given?.includes('${{') === true;
  const name = given === null ? definition.ownKey : textOf(evaluateValue(given, scope));
  const suffix = containsExpression ? '' : combinationName(combination);
  return withPrefix(definition, name, suffix);
}

const withPrefix = ({ prefix }: JobDefinition, name: string, suffix: string): string =>
  (prefix + (suffix === '' ? name : `${name} (${suffix})`)).slice(0, maxNameLength);

/** Name of a matrix job before it is resolved, as far as it is known. */
export function earlyName(definition: JobDefinition, combination: MatrixCombination | null): string {
  const name = definition.name === null || definition.name.includes('${{') ? definition.ownKey : definition.name;
  const suffix = combination === null ? '' : combinationName(combination);
  return withPrefix(definition, name, suffix);
}

/**
 * Name of a matrix job that will not run: an expression is evaluated as far as its contexts are known, so that the
 * name is that of the check. The early name if it cannot be evaluated.
 */
export function skippedName(
  definition: JobDefinition,
  combination: MatrixCombination | null,
  scope: ExpressionScope,
  place: MatrixPlace,
): string {
  const matrix = combination ?? {};
  const strategy = strategyOf({ failFast: true, maxParallel: null, ...place });
  try {
    return nameOf(definition, matrix, { ...scope, contexts: { ...scope.contexts, matrix, strategy } });
  } catch {
    return earlyName(definition, combination);
  }
}

/** Evaluates `concurrency` of a job or file; null if it is absent or the group has no name. */
export function resolveConcurrency(
  concurrency: { group: string; cancelInProgress: Json; queue: 'single' | 'max' } | null,
  scope: ExpressionScope,
): ResolvedConcurrency | null {
  if (concurrency === null) return null;
  const group = textOf(evaluateValue(concurrency.group, scope)).trim();
  if (group === '') return null;
  return {
    group: group.slice(0, 400),
    cancelInProgress: isTruthy(evaluateValue(concurrency.cancelInProgress, scope)),
    queue: concurrency.queue,
  };
}

/** Evaluates the environment of a job; null for an empty name, as on GitHub. */
function resolveEnvironment(
  { environment }: JobDefinition,
  scope: ExpressionScope,
): Pick<ResolvedMatrixJob, 'environment' | 'environmentUrl' | 'makesDeployment'> {
  const name = environment === null ? '' : textOf(evaluateValue(environment.name, scope)).trim();
  if (environment === null || name === '') return { environment: null, environmentUrl: null, makesDeployment: false };
  const fault = faultOfEnvironmentName(name);
  if (fault !== null) throw new ResolveProblem(fault);
  return {
    environment: name,
    environmentUrl: environment.url?.includes('${{') === true ? null : environment.url,
    makesDeployment: isTruthy(evaluateValue(environment.deployment, scope)),
  };
}

/** One label, a list of them, or a mapping with `labels`. */
function readLabels(value: Json): string[] {
  const labels = value !== null && typeof value === 'object' && !Array.isArray(value) ? (value.labels ?? []) : value;
  const list = Array.isArray(labels) ? labels : [labels];
  if (list.length > maxLabels || list.some((label) => typeof label !== 'string' || label.trim() === '')) {
    throw new ResolveProblem('"runs-on" did not give the name of a label.');
  }
  return list.map((label) => (label as string).trim());
}
