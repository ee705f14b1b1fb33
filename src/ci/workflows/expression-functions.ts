import { data, wellKnownFunctions } from '@actions/expressions';
import type { EvaluationBudget } from './evaluation-budget.ts';
import { toData, toJson } from './expression-data.ts';
import type { ExpressionData } from './expression-data.ts';

/** A function of the expression language in the form that the library requires. */
export interface ExpressionFunction {
  name: string;
  minArgs: number;
  maxArgs: number;
  call(...args: ExpressionData[]): ExpressionData;
}

/** The results of `success()` and similar functions for one job. */
export interface JobOutcome {
  /** Whether everything before the job succeeded. */
  success: boolean;
  /** Whether something before the job failed. */
  failure: boolean;
  cancelled: boolean;
}

export const statusFunctions: readonly string[] = ['success', 'failure', 'always', 'cancelled'];

const maxTextLength = 1024 * 1024;

/**
 * Functions that replace the library's: status functions, functions whose nesting could create texts of any length, and
 * functions that read more than their arguments were charged for. `hashFiles` needs the files, which only the runner
 * has.
 */
export function functionsFor(outcome: JobOutcome, budget: EvaluationBudget): ReadonlyMap<string, ExpressionFunction> {
  const known = made.get(budget);
  if (known?.outcome === outcome) return known.functions;
  const functions = makeFunctions(outcome, budget);
  made.set(budget, { outcome, functions });
  return functions;
}

/** The most recent functions of each budget: the expressions of a job are evaluated one after the other. */
const made = new WeakMap<
  EvaluationBudget,
  { outcome: JobOutcome; functions: ReadonlyMap<string, ExpressionFunction> }
>();

function makeFunctions(outcome: JobOutcome, budget: EvaluationBudget): ReadonlyMap<string, ExpressionFunction> {
  const says = (name: string, result: boolean): ExpressionFunction => ({
    name,
    minArgs: 0,
    maxArgs: 0,
    call: () => new data.BooleanData(result),
  });
  const all = [
    says('success', outcome.success),
    says('failure', outcome.failure),
    says('always', true),
    says('cancelled', outcome.cancelled),
    {
      ...shapeOf('format'),
      call: (...args: ExpressionData[]) => text(format(args.map((arg) => arg.coerceString()))),
    },
    {
      ...shapeOf('join'),
      call(...args: ExpressionData[]) {
        const [list, separator] = args;
        const items = list instanceof data.Array ? list.values() : [];
        const between = separator?.coerceString().length ?? 1;
        const length = items.reduce((sum, item) => sum + item.coerceString().length + between, 0);
        refuseLong(length);
        budget.spend(length);
        return library('join').call(...args);
      },
    },
    {
      ...shapeOf('contains'),
      call(...args: ExpressionData[]) {
        const [list, item] = args;
        // The searched value is folded again for each item of the list.
        const items = list instanceof data.Array ? list.values() : [];
        const each = item instanceof data.StringData ? item.value.length : 1;
        for (const one of items) budget.spend(each + (one instanceof data.StringData ? one.value.length : 1));
        return library('contains').call(...args);
      },
    },
    {
      ...shapeOf('tojson'),
      call(value: ExpressionData = new data.Null()) {
        const result = JSON.stringify(toJson(value, budget), null, '  ');
        refuseLong(result.length);
        return text(result);
      },
    },
    {
      ...shapeOf('fromjson'),
      call(value: ExpressionData = new data.Null()) {
        try {
          return toData(JSON.parse(value.coerceString()) as never);
        } catch {
          throw new Error('fromJSON was given a text that is not JSON');
        }
      },
    },
  ];
  return new Map(all.map((one) => [one.name, one]));
}

/** Whether a name is one of these functions or of the library's, whose own check would accept `constructor`. */
export function isFunction(name: string): boolean {
  return statusFunctions.includes(name) || Object.hasOwn(wellKnownFunctions, name);
}

type LibraryFunction = 'contains' | 'format' | 'fromjson' | 'join' | 'tojson';

const library = (name: LibraryFunction) => wellKnownFunctions[name] as unknown as ExpressionFunction;

function shapeOf(name: LibraryFunction): Omit<ExpressionFunction, 'call'> {
  const { minArgs, maxArgs } = library(name);
  return { name, minArgs, maxArgs };
}

const text = (value: string): ExpressionData => new data.StringData(value);

function refuseLong(length: number): void {
  if (length > maxTextLength) throw new Error('the text would be longer than 1 MiB');
}

const placeholder = /\{\{|\}\}|\{(\d{1,3})\}|[{}]/g;

/**
 * Replaces `{0}` and so on; a doubled brace is literal. The library would search the whole text for each next brace.
 */
function format([pattern = '', ...values]: string[]): string {
  let length = pattern.length;
  return pattern.replace(placeholder, (found: string, index: string | undefined) => {
    if (index === undefined) {
      if (found.length === 1) throw new Error('format was given a text with a single brace');
      return found[0]!;
    }
    const value = values[Number(index)];
    if (value === undefined) throw new Error(`format was given no value for ${found}`);
    length += value.length;
    refuseLong(length);
    return value;
  });
}
