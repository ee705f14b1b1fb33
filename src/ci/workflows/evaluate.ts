import { Lexer, Parser } from '@actions/expressions';
import { CountingEvaluator } from './counting-evaluator.ts';
import { EvaluationBudget } from './evaluation-budget.ts';
import { toDictionary, toJson } from './expression-data.ts';
import { functionsFor, isFunction, statusFunctions } from './expression-functions.ts';
import type { JobOutcome } from './expression-functions.ts';
import type { Json } from './json-value.ts';
import { numberText } from './number-text.ts';

/** Contexts for expressions (`github`, `needs`, `matrix` and so on), and the results of status functions. */
export interface ExpressionScope {
  contexts: { readonly [name: string]: Json };
  outcome: JobOutcome;
  /** Budget shared by all expressions of a write; by default each text has its own. */
  budget?: EvaluationBudget;
}

/** An expression that cannot be evaluated, with a message for its author. */
export class ExpressionProblem extends Error {
  constructor(expression: string, cause: unknown) {
    const shown = expression.length > 200 ? `${expression.slice(0, 200)}…` : expression;
    const reason = (cause as Error).message.slice(0, 300);
    super(`The expression ${shown} cannot be evaluated: ${reason}.`, { cause });
    this.name = 'ExpressionProblem';
  }
}

/** Base cost of any expression: its tokens, its syntax tree and its functions. */
const stepsOfExpression = 500;

type Token = ReturnType<Lexer['lex']>['tokens'][number];

const leftParenthesis = 1;
const identifier = 19;

/** The functions that a text calls, in lower case. */
function calls(tokens: readonly Token[]): string[] {
  return tokens
    .filter((token, at) => token.type === identifier && tokens[at + 1]?.type === leftParenthesis)
    .map((token) => token.lexeme.toLowerCase());
}

/** Evaluates one expression, without `${{ }}` around it. Throws `ExpressionProblem`. */
export function evaluateExpression(
  expression: string,
  { contexts, outcome, budget = new EvaluationBudget() }: ExpressionScope,
): Json {
  try {
    budget.spend(stepsOfExpression + expression.length);
    const { tokens } = new Lexer(expression).lex();
    const unknown = calls(tokens).find((name) => !isFunction(name));
    if (unknown !== undefined) throw new Error(`there is no function ${unknown}`);
    const functions = functionsFor(outcome, budget);
    const tree = new Parser(tokens, Object.keys(contexts), [...functions.values()] as never).parse();
    if (tree === undefined) throw new Error('it is empty');
    return toJson(new CountingEvaluator(tree, toDictionary(contexts), functions, budget).evaluate(), budget);
  } catch (cause) {
    throw new ExpressionProblem(expression, cause);
  }
}

/**
 * Evaluates the expressions in `${{ }}` anywhere in a value. A text that is a single expression becomes its result,
 * which may be a list; other results are inserted as text. Throws `ExpressionProblem`.
 */
export function evaluateValue(value: Json, scope: ExpressionScope): Json {
  return evaluatePart(value, { ...scope, budget: scope.budget ?? new EvaluationBudget() });
}

type CountedScope = ExpressionScope & { budget: EvaluationBudget };

function evaluatePart(value: Json, scope: CountedScope): Json {
  spendOn(value, 1, scope);
  if (typeof value === 'string') return evaluateText(value, scope);
  if (Array.isArray(value)) return value.map((item) => evaluatePart(item, scope));
  if (value === null || typeof value !== 'object') return value;
  return Object.fromEntries(Object.entries(value).map(([key, one]) => [key, evaluatePart(one, scope)]));
}

/** Charges work outside expressions, where the budget itself reports exhaustion. */
function spendOn(value: Json, steps: number, { budget }: CountedScope): void {
  try {
    budget.spend(steps);
  } catch (cause) {
    throw new ExpressionProblem(typeof value === 'string' ? value : '(a list or mapping)', cause);
  }
}

function evaluateText(text: string, scope: CountedScope): Json {
  spendOn(text, text.length, scope);
  const parts = splitText(text);
  const [first] = parts;
  if (parts.length === 1 && first?.isExpression) return evaluateExpression(first.text, scope);
  return parts.map((part) => (part.isExpression ? textOf(evaluateExpression(part.text, scope)) : part.text)).join('');
}

/** Converts a value to text by the rules of the expression language. */
export function textOf(value: Json): string {
  if (value === null) return '';
  if (typeof value === 'number') return numberText(value);
  if (Array.isArray(value)) return 'Array';
  return typeof value === 'object' ? 'Object' : String(value);
}

/** Whether a value counts as true. */
export function isTruthy(value: Json): boolean {
  return Boolean(value) && !Number.isNaN(value);
}

/**
 * Whether the `if` of a job lets it run. `${{ }}` may be omitted. A condition without a status function implies
 * `success()`.
 */
export function evaluateCondition(condition: string | null, given: ExpressionScope): boolean {
  const scope = { ...given, budget: given.budget ?? new EvaluationBudget() };
  const text = condition?.trim() ?? '';
  if (text === '') return scope.outcome.success;
  const parts = splitText(text);
  const isPlain = !parts.some((part) => part.isExpression);
  const [first] = parts;
  const expression = isPlain ? text : parts.length === 1 ? first!.text : null;
  const asksForState = (isPlain ? [text] : parts.filter((part) => part.isExpression).map((part) => part.text)).some(
    callsStatusFunction,
  );
  if (!asksForState && !scope.outcome.success) return false;
  return isTruthy(expression === null ? evaluateText(text, scope) : evaluateExpression(expression, scope));
}

function callsStatusFunction(expression: string): boolean {
  try {
    return calls(new Lexer(expression).lex().tokens).some((name) => statusFunctions.includes(name));
  } catch {
    // The evaluation reports the problem.
    return false;
  }
}

export interface TextPart {
  isExpression: boolean;
  text: string;
}

/** Splits a text into expressions and literals; `}}` inside a quoted string does not end an expression. */
export function splitText(text: string): TextPart[] {
  const parts: TextPart[] = [];
  let at = 0;
  while (at < text.length) {
    const start = text.indexOf('${{', at);
    if (start === -1) break;
    let end = start + 3;
    for (let quoted = false; end < text.length && (quoted || !text.startsWith('}}', end)); end += 1) {
      if (text[end] === "'") quoted = !quoted;
    }
    if (end >= text.length) throw new ExpressionProblem(text.slice(start), new Error('it has no end'));
    if (start > at) parts.push({ isExpression: false, text: text.slice(at, start) });
    parts.push({ isExpression: true, text: text.slice(start + 3, end).trim() });
    at = end + 2;
  }
  if (at < text.length || parts.length === 0) parts.push({ isExpression: false, text: text.slice(at) });
  return parts;
}

/** Whether a value contains an expression that reads a context such as `needs`. */
export function mentionsContext(value: Json, context: string): boolean {
  if (typeof value === 'string') {
    return splitText(value).some((part) => part.isExpression && new RegExp(`\\b${context}\\b`, 'i').test(part.text));
  }
  if (Array.isArray(value)) return value.some((item) => mentionsContext(item, context));
  return (
    value !== null && typeof value === 'object' && Object.values(value).some((one) => mentionsContext(one, context))
  );
}

/** Reads a count such as `max-parallel`, from 1; null for anything else. */
export function readCount(value: Json): number | null {
  const count = typeof value === 'string' ? Number(value) : value;
  return typeof count === 'number' && count >= 1 ? Math.floor(count) : null;
}
