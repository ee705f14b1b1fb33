import { Lexer, Parser } from '@actions/expressions';
import { isFunction, statusFunctions } from './expression-functions.ts';

/**
 * Contexts available to expressions at each place: GitHub's "Contexts", section "Context availability". `gitea` and
 * `forgejo` are aliases of `github`.
 */
const available = {
  runName: 'github inputs vars',
  concurrency: 'github inputs vars',
  env: 'github secrets inputs vars',
  defaults: 'github inputs vars',
  default: 'github inputs vars',
  callOutput: 'github jobs vars inputs',
  jobConcurrency: 'github needs strategy matrix inputs vars',
  container: 'github needs strategy matrix vars inputs',
  credentials: 'github needs strategy matrix env vars secrets inputs',
  containerEnv: 'github needs strategy matrix job runner env vars secrets inputs',
  jobValue: 'github needs strategy vars matrix inputs',
  jobDefaults: 'github needs strategy matrix env vars inputs',
  jobEnv: 'github needs strategy matrix vars secrets inputs',
  environment: 'github needs strategy matrix vars inputs',
  environmentUrl: 'github needs strategy matrix job runner env vars steps inputs',
  jobIf: 'github needs vars inputs',
  jobName: 'github needs strategy matrix vars inputs',
  jobOutputs: 'github needs strategy matrix job runner env vars secrets steps inputs',
  runsOn: 'github needs strategy matrix vars inputs',
  jobSecrets: 'github needs strategy matrix secrets inputs vars',
  step: 'github needs strategy matrix job runner env vars secrets steps inputs',
  stepIf: 'github needs strategy matrix job runner env vars steps inputs',
  strategy: 'github needs vars inputs',
  jobWith: 'github needs strategy matrix inputs vars',
} as const;

export type PlaceName = keyof typeof available;

const known = 'github gitea forgejo forge env vars job jobs steps runner secrets strategy matrix needs inputs'.split(
  ' ',
);
const aliases = ['gitea', 'forgejo', 'forge'];
const literals = ['true', 'false', 'null', 'nan', 'infinity'];
const withHash: readonly PlaceName[] = ['step', 'stepIf'];

export interface ExpressionFault {
  message: string;
  /** The misspelled name; `names` has the candidates for it. */
  wrong: string | null;
  names: readonly string[];
}

/** A quoted text, a number, a name, or one other character. */
const tokens = /'(?:[^']|'')*'|\d[\w.+-]*|[A-Za-z_][\w-]*|[^]/g;

/** Finds an invalid name in an expression at a place; does not check the grammar. */
export function checkNames(expression: string, place: PlaceName, isCondition: boolean): ExpressionFault | null {
  let before = '';
  const all = [...expression.matchAll(tokens)].map(([token]) => token).filter((token) => token.trim() !== '');
  for (const [at, token] of all.entries()) {
    const isName = /^[A-Za-z_]/.test(token) && before !== '.';
    before = token;
    if (token === '"') return fault('A text in an expression stands in single quotes.');
    if (!isName) continue;
    const name = token.toLowerCase();
    const found =
      all[at + 1] === '(' ? checkFunction(name, token, place, isCondition) : checkContext(name, token, place);
    if (found !== null) return found;
  }
  return null;
}

/** `hashFiles` and the status functions; the library knows the others and their numbers of arguments. */
const ownFunctions = [
  ...['always', 'cancelled'].map((name) => ({ name, minArgs: 0, maxArgs: 0 })),
  ...['success', 'failure'].map((name) => ({ name, minArgs: 0, maxArgs: 255 })),
  { name: 'hashFiles', minArgs: 1, maxArgs: 255 },
];
/** GitHub's limit for expressions. */
const maxExpressionLength = 21_000;

/** Finds a grammar error in an expression whose names are known. */
export function checkGrammar(expression: string): ExpressionFault | null {
  if (expression.length > maxExpressionLength)
    return fault(`An expression has at most ${maxExpressionLength} characters.`);
  try {
    const { tokens: lexed } = new Lexer(expression).lex();
    const tree = new Parser(lexed, known, ownFunctions as never).parse();
    return tree === undefined ? fault('An expression between "${{" and "}}" is empty.') : null;
  } catch (error) {
    const shown = expression.length > 100 ? `${expression.slice(0, 100)}…` : expression;
    return fault(`The expression ${shown} cannot be read: ${(error as Error).message.split('\n')[0]}.`);
  }
}

const functions = [
  ...statusFunctions,
  'contains',
  'startsWith',
  'endsWith',
  'format',
  'join',
  'toJSON',
  'fromJSON',
  'hashFiles',
];

function checkFunction(name: string, written: string, place: PlaceName, isCondition: boolean): ExpressionFault | null {
  if (name === 'hashfiles' && !withHash.includes(place))
    return fault('"hashFiles" needs the files of a step; a step can write its result to an output.');
  if (name !== 'hashfiles' && !isFunction(name) && name !== 'case')
    return { ...fault(`There is no function ${written}.`), wrong: written, names: functions };
  if (statusFunctions.includes(name) && !isCondition)
    return fault(`The function "${written}" is available in an "if" alone.`);
  return null;
}

function checkContext(name: string, written: string, place: PlaceName): ExpressionFault | null {
  if (literals.includes(name)) return null;
  if (!known.includes(name)) return { ...fault(`There is no context ${written}.`), wrong: written, names: known };
  const names = available[place].split(' ');
  if (aliases.includes(name) || names.includes(name)) return null;
  return fault(`The context "${written}" is not available here: ${names.join(', ')} are.`);
}

const fault = (message: string): ExpressionFault => ({ message, wrong: null, names: [] });
