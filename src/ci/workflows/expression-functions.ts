import { data, wellKnownFunctions } from '@actions/expressions';
import { toData, toJson } from './expression-data.ts';
import type { ExpressionData } from './expression-data.ts';

/** A function of the expression language, as the library wants it. */
export interface ExpressionFunction {
  name: string;
  minArgs: number;
  maxArgs: number;
  call(...args: ExpressionData[]): ExpressionData;
}

/** What `success()` and its like answer for one job. */
export interface JobOutlook {
  /** Everything before the job went well. */
  success: boolean;
  /** Something before the job failed. */
  failure: boolean;
  cancelled: boolean;
}

export const statusFunctions: readonly string[] = ['success', 'failure', 'always', 'cancelled'];

const maxTextLength = 1024 * 1024;

/**
 * The functions that differ from the library's: those about the state of the run,
 * and those that could be nested into texts of any length. `hashFiles` needs the
 * files, which only the runner has.
 */
export function functionsFor(outlook: JobOutlook): Map<string, ExpressionFunction> {
  const says = (name: string, answer: boolean): ExpressionFunction => ({
    name,
    minArgs: 0,
    maxArgs: 0,
    call: () => new data.BooleanData(answer),
  });
  const all = [
    says('success', outlook.success),
    says('failure', outlook.failure),
    says('always', true),
    says('cancelled', outlook.cancelled),
    ...boundedFunctions,
  ];
  return new Map(all.map((one) => [one.name, one]));
}

/** Whether a name is one of ours or of the library's; its own check would take `constructor` for a function. */
export function isFunction(name: string): boolean {
  return statusFunctions.includes(name) || Object.hasOwn(wellKnownFunctions, name);
}

const boundedFunctions: readonly ExpressionFunction[] = [
  bounded('format', (args) => {
    const [pattern = '', ...values] = args.map((arg) => arg.coerceString());
    return pattern.length + pattern.split('{').length * Math.max(0, ...values.map((value) => value.length));
  }),
  bounded('join', ([list, separator]) => {
    const items = list instanceof data.Array ? list.values() : [];
    return items.reduce((sum, item) => sum + item.coerceString().length + (separator?.coerceString().length ?? 1), 0);
  }),
  bounded('tojson', ([value]) => 2 * (value instanceof data.StringData ? value.value.length : 0)),
  {
    name: 'fromjson',
    minArgs: 1,
    maxArgs: 1,
    call(text = new data.Null()) {
      try {
        return toData(JSON.parse(text.coerceString()) as never);
      } catch {
        throw new Error('fromJSON was given a text that is not JSON');
      }
    },
  },
];

/** The library's function, refused when its answer could be longer than any text should be. */
function bounded(name: 'format' | 'join' | 'tojson', length: (args: ExpressionData[]) => number): ExpressionFunction {
  const original = wellKnownFunctions[name] as unknown as ExpressionFunction;
  return {
    name,
    minArgs: original.minArgs,
    maxArgs: original.maxArgs,
    call(...args) {
      if (length(args) > maxTextLength) throw new Error('the text would be longer than 1 MiB');
      const answer = original.call(...args);
      if (name === 'tojson' && String(toJson(answer)).length > maxTextLength)
        throw new Error('the text would be longer than 1 MiB');
      return answer;
    },
  };
}
