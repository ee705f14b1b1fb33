import { ExpressionProblem, evaluateCondition, evaluateValue, isTruthy, textOf } from '../workflows/evaluate.ts';
import type { ExpressionScope } from '../workflows/evaluate.ts';
import { BudgetSpent } from '../workflows/evaluation-budget.ts';
import type { EvaluationBudget } from '../workflows/evaluation-budget.ts';
import type { JobOutcome } from '../workflows/expression-functions.ts';
import { expandMatrix, combinationName, MatrixProblem } from '../workflows/expand-matrix.ts';
import type { MatrixCombination } from '../workflows/expand-matrix.ts';
import type { JobDefinition } from '../workflows/workflow.ts';
import type { Json } from '../workflows/json.ts';
import { inputsOfCall } from './job-contexts.ts';
import type { Contexts, JobContexts } from './job-contexts.ts';
import type { JobOutcomes } from './needs.ts';

/** One leg of a job, with every expression that the server answers for answered. */
export interface ResolvedMatrixJob {
  leg: MatrixCombination;
  name: string;
  runsOn: string[];
  continueOnError: boolean;
  failFast: boolean;
  maxParallel: number | null;
  concurrency: ResolvedConcurrency | null;
}

export interface ResolvedConcurrency {
  group: string;
  cancelInProgress: boolean;
  queue: 'single' | 'max';
}

export type Resolution =
  | { kind: 'go'; legs: ResolvedMatrixJob[] }
  | { kind: 'skip' }
  /** `failFast` as the file says it, as far as that could be evaluated. */
  | { kind: 'fail'; reason: string; failFast: boolean };

const maxNameLength = 255;
const maxLabels = 50;

/**
 * Decides what becomes of a job whose needs have ended: whether it runs, in which
 * legs, and where. An expression that cannot be evaluated fails the job in words.
 * @param leg the leg that is to be settled; null when the matrix is still to be expanded
 */
export function resolveJob(
  definition: JobDefinition,
  { own, call: callers, budget }: JobContexts,
  outlooks: JobOutcomes,
  leg: MatrixCombination | null,
): Resolution {
  try {
    const { call } = definition;
    const callScope =
      call === null || callers === null || outlooks.call === null ? null : scopeOf(callers, outlooks.call, budget);
    if (callScope !== null && !evaluateCondition(call!.condition, callScope)) return { kind: 'skip' };
    const contexts = callScope === null ? own : { ...own, inputs: inputsOfCall(call!, callScope) };
    const outlook = outlooks.own;
    const scope = scopeOf(contexts, outlook, budget);
    if (!evaluateCondition(definition.condition, scope)) return { kind: 'skip' };
    const legs = leg === null ? expandMatrix(evaluateValue(definition.matrix, scope), budget) : [leg];
    return { kind: 'go', legs: legs.map((one) => resolveMatrixJob(definition, contexts, outlook, budget, one)) };
  } catch (error) {
    if (!isProblem(error)) throw error;
    return { kind: 'fail', reason: error.message, failFast: error instanceof LegProblem ? error.failFast : true };
  }
}

class ResolveProblem extends Error {}

/** What is wrong with one leg, after its strategy had been read. */
class LegProblem extends ResolveProblem {
  readonly failFast: boolean;

  constructor(message: string, failFast: boolean) {
    super(message);
    this.failFast = failFast;
  }
}

/** What the author of the file is told. */
const problems = [ExpressionProblem, MatrixProblem, BudgetSpent, ResolveProblem];
const isProblem = (error: unknown): error is Error => problems.some((kind) => error instanceof kind);

/** `github` has two more names on runners; whoever wrote a file for those finds it here too. */
export function scopeOf(
  contexts: Contexts,
  outlook: JobOutcome,
  budget: EvaluationBudget,
  matrix: MatrixCombination = {},
  strategy: Json = {},
): ExpressionScope {
  const { github } = contexts;
  return { contexts: { ...contexts, gitea: github, forgejo: github, matrix, strategy }, outlook, budget };
}

function resolveMatrixJob(
  definition: JobDefinition,
  contexts: Contexts,
  outlook: JobOutcome,
  budget: EvaluationBudget,
  leg: MatrixCombination,
): ResolvedMatrixJob {
  const plain = scopeOf(contexts, outlook, budget, leg);
  const failFast = isTruthy(evaluateValue(definition.failFast, plain));
  const maxParallel = readCount(evaluateValue(definition.maxParallel, plain));
  const scope = scopeOf(contexts, outlook, budget, leg, { 'fail-fast': failFast, 'max-parallel': maxParallel });
  try {
    return {
      leg,
      name: nameOf(definition, leg, scope),
      runsOn: readLabels(evaluateValue(definition.runsOn, scope)),
      continueOnError: isTruthy(evaluateValue(definition.continueOnError, scope)),
      failFast,
      maxParallel,
      concurrency: resolveConcurrency(definition.concurrency, scope),
    };
  } catch (error) {
    throw isProblem(error) ? new LegProblem(error.message, failFast) : error;
  }
}

/** `build (linux, 18)`, unless the file's own name says which leg it is. */
function nameOf(definition: JobDefinition, leg: MatrixCombination, scope: ExpressionScope): string {
  const given = definition.name;
  const says = given?.includes('${{') === true;
  const name = given === null ? definition.ownKey : textOf(evaluateValue(given, scope));
  const suffix = says ? '' : combinationName(leg);
  return withPrefix(definition, name, suffix);
}

const withPrefix = ({ prefix }: JobDefinition, name: string, suffix: string): string =>
  (prefix + (suffix === '' ? name : `${name} (${suffix})`)).slice(0, maxNameLength);

/** The name of a leg before its job is settled: what can be said already. */
export function earlyName(definition: JobDefinition, leg: MatrixCombination | null): string {
  const name = definition.name === null || definition.name.includes('${{') ? definition.ownKey : definition.name;
  const suffix = leg === null ? '' : combinationName(leg);
  return withPrefix(definition, name, suffix);
}

/** `concurrency` of a job or of a whole file; null for none, and for a group without a name. */
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

/** One label, a list of them, or a mapping with `labels`. */
function readLabels(value: Json): string[] {
  const labels = value !== null && typeof value === 'object' && !Array.isArray(value) ? (value.labels ?? []) : value;
  const list = Array.isArray(labels) ? labels : [labels];
  if (list.length > maxLabels || list.some((label) => typeof label !== 'string' || label.trim() === '')) {
    throw new ResolveProblem('"runs-on" did not give the name of a label.');
  }
  return list.map((label) => (label as string).trim());
}

function readCount(value: Json): number | null {
  const count = typeof value === 'string' ? Number(value) : value;
  return typeof count === 'number' && count >= 1 ? Math.floor(count) : null;
}
