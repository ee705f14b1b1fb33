import { isMap } from 'yaml';
import type { YAMLMap } from 'yaml';
import { lowerTaskPermissions } from '../../access/index.ts';
import type { Bundle } from './bundle.ts';
import { keyOfCall, parseCallAddress, pathInOwnRepository } from './call-address.ts';
import { parsePermissions } from './parse-settings.ts';
import { prefixOf } from './workflow-calls.ts';
import { isTruthy, readCount } from './evaluate.ts';
import { expandMatrix } from './expand-matrix.ts';
import type { MatrixCombination } from './expand-matrix.ts';
import { WorkflowProblem } from './workflow-problem.ts';
import type { ParsedJob } from './parsed-job.ts';
import type { CalledFile, CallInput, Permissions, WorkflowCall } from './workflow.ts';
import type { Json } from './json-value.ts';
import type { YamlFile } from './yaml-nodes.ts';

export interface CallingFile {
  file: YamlFile;
  /** Source of the file; null for the repository of the run. */
  base: string | null;
  called: CalledFiles;
  permissions: Permissions;
  /** Number of calls that contain this file. */
  depth: number;
}

/** Files that can be called. */
interface CalledFiles {
  /** Keyed by `keyOfCall`; each is parsed once. */
  files: ReadonlyMap<string, () => YamlFile>;
  /** As in the bundle: null if files of other repositories were not read. */
  commits: Bundle['commits'];
}

/** Jobs of a file, and its direct and indirect calls. */
export interface ParsedJobs {
  jobs: Map<string, ParsedJob>;
  calls: Map<string, readonly WorkflowCall[]>;
}

/** Depth limit of calls: ten levels including the file of the run, as on GitHub. */
const maxDepth = 9;
/** Limit of direct and indirect calls of a file; more than its jobs can use. */
export const maxCalls = 2_560;

const callTypes: readonly CallInput['type'][] = ['string', 'boolean', 'number'];

/** Parses `jobs` of a called file. */
export type ParseInner = (
  file: YamlFile,
  node: unknown,
  place: Pick<CallingFile, 'base' | 'permissions'>,
) => ParsedJobs;

interface CallingJob {
  key: string;
  job: YAMLMap;
  /** Number of further jobs that the file may have. */
  jobsLeft: number;
}

/** The jobs and calls that replace a job that calls a workflow. */
interface ParsedCall {
  needs: readonly string[];
  calls: [string, readonly WorkflowCall[]][];
  jobs: ParsedJob[];
}

/**
 * Replaces a job that calls another workflow by that workflow's jobs, once per combination of its matrix; by none if
 * files of other repositories were not read. Throws `WorkflowProblem`.
 */
export function parseCall(
  calling: CallingFile,
  { key, job, jobsLeft }: CallingJob,
  parseInner: ParseInner,
): ParsedCall {
  const { file, base, called, depth } = calling;
  const get = (name: string): unknown => file.get(job, name);
  const uses = file.text(get('uses'), '"uses"');
  if (depth >= maxDepth) throw file.problem(get('uses'), `Workflows call each other at most ${maxDepth} deep.`);
  const callee = keyOfCall(uses, base);
  if (callee === null) throw file.problem(get('uses'), notCallable);
  for (const name of ['steps', 'runs-on'])
    if (!file.isAbsent(get(name))) throw file.problem(get(name), `A job that calls a workflow has no "${name}".`);
  const strategy = strategyOf(file, get('strategy'));
  if (callee.base !== null && called.commits === null)
    return { needs: [...new Set(file.texts(get('needs'), '"needs"'))], calls: [[key, []]], jobs: [] };
  const open = called.files.get(callee.key);
  const path = pathInOwnRepository(uses) ?? uses;
  if (open === undefined) throw file.problem(get('uses'), callee.base === null ? notThere(path) : notReadable(path));
  const commit = callee.base === null ? null : called.commits!.get(callee.base)!;
  const calledFile = { path: parseCallAddress(uses)?.path ?? path, commit };
  try {
    return read(calling, parseInner, { key, job, jobsLeft, path, base: callee.base, calledFile, open, strategy });
  } catch (error) {
    if (!(error instanceof WorkflowProblem) || (error instanceof CallProblem && error.file === file)) throw error;
    const innermost = error instanceof NestedProblem ? error.message : `${path}, ${error.describe()}`;
    const { line, column } = file.problem(get('uses'), innermost);
    throw new NestedProblem(innermost, { line, column });
  }
}

const notCallable =
  'A job calls a workflow as "./.hearth/workflows/name.yml" or as "owner/name/.hearth/workflows/name.yml@ref".';
const notThere = (path: string): string =>
  `Workflow ${path} was not found in this commit, or is too large to be called.`;
/** Uses the same words for missing and for hidden files. */
const notReadable = (path: string): string =>
  `Workflow ${path} was not found on this server, is too large to be called, or the user who started the run cannot read it.`;

/** The strategy of a call; one with expressions is evaluated once the needed jobs have ended. */
interface ParsedStrategy extends Pick<WorkflowCall, 'pending' | 'failFast' | 'maxParallel'> {
  combinations: readonly MatrixCombination[];
}

function strategyOf(file: YamlFile, node: unknown): ParsedStrategy {
  const strategy = file.isAbsent(node) ? null : file.map(node, '"strategy"');
  const get = (name: string): Json => (strategy === null ? null : file.json(file.get(strategy, name)));
  const pending = { matrix: get('matrix'), failFast: get('fail-fast') ?? true, maxParallel: get('max-parallel') };
  if (JSON.stringify(pending).includes('${{'))
    return { combinations: [{}], pending, failFast: true, maxParallel: null };
  try {
    return {
      combinations: expandMatrix(pending.matrix),
      pending: null,
      failFast: isTruthy(pending.failFast),
      maxParallel: readCount(pending.maxParallel),
    };
  } catch (error) {
    throw file.problem(node, (error as Error).message);
  }
}

/**
 * A problem of a called file: its position, and the position of the call in the file of the run. Intermediate files are
 * omitted.
 */
class NestedProblem extends WorkflowProblem {}

/** A problem of the calling file, found while the called file is parsed. */
class CallProblem extends WorkflowProblem {
  readonly file: YamlFile;

  constructor(message: string, place: { line: number; column: number }, file: YamlFile) {
    super(message, place);
    this.file = file;
  }
}

interface Called extends CallingJob {
  /** Path in messages. */
  path: string;
  base: string | null;
  calledFile: CalledFile;
  open: () => YamlFile;
  strategy: ParsedStrategy;
}

function read(
  { file, permissions: top }: CallingFile,
  parseInner: ParseInner,
  { key, job, jobsLeft, path, base, calledFile, open, strategy }: Called,
): ParsedCall {
  const get = (name: string): unknown => file.get(job, name);
  const own = (node: unknown, message: string) => {
    const { line, column } = file.problem(node, message);
    return new CallProblem(message, { line, column }, file);
  };
  const inner = open();
  if (!isMap(inner.document.contents)) throw inner.problemAt(0, 'A workflow file is a mapping with "on" and "jobs".');
  const root = inner.document.contents as YAMLMap;
  const settings = callSettings(inner, inner.get(root, 'on'));
  if (settings === undefined) throw own(get('uses'), `${path} cannot be called: it has no "workflow_call" under "on".`);
  const inputs = parseInputs(inner, settings);
  const given = file.isAbsent(get('with'))
    ? new Map<string, Json>()
    : new Map(file.entries(get('with'), '"with"').map(({ key: name, value }) => [name, file.json(value)]));
  for (const name of given.keys()) if (!inputs.has(name)) throw own(get('with'), `${path} has no input ${name}.`);
  for (const [name, { required, type }] of inputs) {
    if (required && !given.has(name)) throw own(get('uses'), `${path} needs the input ${name}.`);
    if (!isOfType(given.get(name), type)) throw own(get('with'), `The input ${name} of ${path} is a ${type}.`);
  }
  const secrets = get('secrets');
  const fault = faultOfSecrets(file, secrets, declaredSecrets(inner, settings));
  if (fault !== null) throw own(file.isAbsent(secrets) ? get('uses') : secrets, `${path} ${fault}`);
  const allowed = parsePermissions(inner, inner.get(root, 'permissions'));
  const parsed = parseInner(inner, inner.get(root, 'jobs'), { base, permissions: allowed });
  const { combinations, pending, failFast, maxParallel } = strategy;
  // Stops copying at the limits of the file, which are checked afterwards.
  const mostCalls = Math.ceil(maxCalls / (parsed.calls.size + 1)) + 1;
  const copied = combinations.slice(0, Math.min(jobsLeft + 2, mostCalls));
  const ceiling = parsePermissions(file, get('permissions')) ?? top;
  const needs = [...new Set(file.texts(get('needs'), '"needs"'))];
  const common = {
    needs,
    condition: file.textOrNull(get('if'), '"if"'),
    inputs,
    given,
    secrets: file.isAbsent(secrets)
      ? {}
      : isMap(file.resolve(secrets))
        ? (file.json(secrets) as { [name: string]: Json })
        : ('inherit' as const),
    outputs: settings === null ? new Map<string, string>() : parseOutputs(inner, inner.get(settings, 'outputs')),
    outer: null,
    file: calledFile,
    name: file.textOrNull(get('name'), '"name"') ?? key,
    pending,
    failFast,
    maxParallel,
  };
  const calls = copied.map(
    (combination, at): WorkflowCall => ({ ...common, key: at === 0 ? key : `${key}#${at}`, combination }),
  );
  const placed = calls.map((call) => placeInner(parsed, call, { allowed, ceiling }));
  return {
    needs,
    calls: [[key, calls], ...placed.flatMap((one) => one.calls)],
    jobs: placed.flatMap((one) => one.jobs),
  };
}

/** Moves the jobs and calls of a called file into the calling file. */
function placeInner(
  { jobs, calls }: ParsedJobs,
  call: WorkflowCall,
  { allowed, ceiling }: { allowed: Permissions; ceiling: Permissions },
): { jobs: ParsedJob[]; calls: [string, readonly WorkflowCall[]][] } {
  const within = (key: string): string => `${call.key}.${key}`;
  const moved = new Map<WorkflowCall, WorkflowCall>();
  const move = (one: WorkflowCall | null): WorkflowCall => {
    if (one === null) return call;
    const known = moved.get(one);
    if (known !== undefined) return known;
    const made = { ...one, key: within(one.key), outer: move(one.outer) };
    moved.set(one, made);
    return made;
  };
  const prefix = prefixOf(call);
  return {
    calls: [...calls].map(([key, list]) => [within(key), list.map(move)]),
    jobs: [...jobs.values()].map(({ definition: each, ...place }) => ({
      ...place,
      definition: {
        ...each,
        key: within(each.key),
        call: move(each.call),
        prefix: prefix + each.prefix,
        waitsFor: each.waitsFor.map(within),
        permissions: lower(each.permissions ?? allowed, ceiling),
      },
    })),
  };
}

/** A called workflow has at most the permissions of its caller. */
const lower = (wanted: Permissions, ceiling: Permissions): Permissions =>
  wanted === null || ceiling === null ? (wanted ?? ceiling) : lowerTaskPermissions(wanted, ceiling);

/** The settings under `workflow_call`: null if there are none, undefined if the file cannot be called. */
function callSettings(file: YamlFile, node: unknown): YAMLMap | null | undefined {
  const found = file.resolve(node);
  if (!isMap(found)) return file.texts(node, '"on"').includes('workflow_call') ? null : undefined;
  const entry = file.entries(node, '"on"').find(({ key }) => key === 'workflow_call');
  if (entry === undefined) return undefined;
  return file.isAbsent(entry.value) ? null : file.map(entry.value, '"workflow_call"');
}

function parseInputs(file: YamlFile, settings: YAMLMap | null): Map<string, CallInput> {
  const inputs = settings === null ? null : file.get(settings, 'inputs');
  if (settings === null || file.isAbsent(inputs)) return new Map();
  return new Map(
    file.entries(inputs, '"inputs"').map(({ key, value }) => {
      const input = file.isAbsent(value) ? null : file.map(value, `The input ${key}`);
      const get = (name: string): unknown => (input === null ? null : file.get(input, name));
      const type = (file.textOrNull(get('type'), '"type"') ?? 'string') as CallInput['type'];
      if (!callTypes.includes(type))
        throw file.problem(get('type'), `An input of a call is one of ${callTypes.join(', ')}.`);
      return [
        key,
        {
          type,
          required: file.textOrNull(get('required'), '"required"') === 'true',
          default: file.json(get('default')),
        },
      ];
    }),
  );
}

/** Absent values and values with expressions have every type until they are evaluated. */
function isOfType(value: Json | undefined, type: CallInput['type']): boolean {
  if (value === undefined || value === null || (typeof value === 'string' && value.includes('${{'))) return true;
  if (typeof value === 'object') return false;
  if (type === 'boolean') return value === true || value === false || value === 'true' || value === 'false';
  return type === 'string' || (typeof value !== 'boolean' && Number.isFinite(Number(value)));
}

/** Secrets that a called file declares, in lower case, and whether each is required. */
function declaredSecrets(
  file: YamlFile,
  settings: YAMLMap | null,
): ReadonlyMap<string, { name: string; required: boolean }> {
  const secrets = settings === null ? null : file.get(settings, 'secrets');
  if (file.isAbsent(secrets)) return new Map();
  return new Map(
    file.entries(secrets, '"secrets"').map(({ key: name, value }) => {
      const secret = file.isAbsent(value) ? null : file.map(value, `The secret ${name}`);
      const required = secret === null ? null : file.textOrNull(file.get(secret, 'required'), '"required"');
      return [name.toLowerCase(), { name, required: required === 'true' }];
    }),
  );
}

/** Explains why a called file does not accept these secrets: it must declare each name. Null if it does. */
function faultOfSecrets(file: YamlFile, node: unknown, declared: ReturnType<typeof declaredSecrets>): string | null {
  if (!file.isAbsent(node) && !isMap(file.resolve(node))) return null;
  const given = file.isAbsent(node) ? [] : file.entries(node, '"secrets"').map(({ key }) => key);
  const unknown = given.find((name) => !declared.has(name.toLowerCase()));
  if (unknown !== undefined) return `has no secret ${unknown}.`;
  const names = new Set(given.map((name) => name.toLowerCase()));
  const missing = [...declared].find(([name, { required }]) => required && !names.has(name));
  return missing === undefined ? null : `needs the secret ${missing[1].name}.`;
}

function parseOutputs(file: YamlFile, node: unknown): Map<string, string> {
  if (file.isAbsent(node)) return new Map();
  return new Map(
    file
      .entries(node, '"outputs"')
      .map(({ key, value }) => [key, file.text(file.get(file.map(value, `The output ${key}`), 'value'), '"value"')]),
  );
}
