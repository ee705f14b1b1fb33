import { isMap } from 'yaml';
import type { YAMLMap } from 'yaml';
import { lowerTaskPermissions } from '../../access/index.ts';
import { parsePermissions } from './parse-settings.ts';
import { WorkflowProblem } from './workflow-problem.ts';
import type { ParsedJob } from './parsed-job.ts';
import type { CallInput, Permissions, WorkflowCall } from './workflow.ts';
import type { Json } from './json.ts';
import type { YamlFile } from './yaml-nodes.ts';

export interface CallingFile {
  file: YamlFile;
  /** Files that may be called, keyed by path, each parsed once; null inside a called file. */
  called: ReadonlyMap<string, () => YamlFile> | null;
  permissions: Permissions;
}

const callTypes: readonly CallInput['type'][] = ['string', 'boolean', 'number'];

/** Parses `jobs` of a called file, which may call nothing itself. */
export type ParseInner = (file: YamlFile, node: unknown) => ReadonlyMap<string, ParsedJob>;

/** A job that calls another workflow of the repository, replaced by that workflow's jobs. Throws `WorkflowProblem`. */
export function parseCall(
  { file, called, permissions: top }: CallingFile,
  { key, job }: { key: string; job: YAMLMap },
  parseInner: ParseInner,
): { call: WorkflowCall; jobs: ParsedJob[] } {
  const get = (name: string): unknown => file.get(job, name);
  const uses = file.text(get('uses'), '"uses"');
  if (called === null) throw file.problem(get('uses'), 'A workflow that is called cannot call another one here.');
  if (!uses.startsWith('./'))
    throw file.problem(
      get('uses'),
      'Only workflows of the same repository can be called: "./.hearth/workflows/name.yml".',
    );
  const path = uses.slice(2);
  const open = called.get(path);
  if (open === undefined)
    throw file.problem(get('uses'), `There is no workflow ${path} in this commit, or it is too large to be called.`);
  for (const name of ['steps', 'runs-on', 'strategy'])
    if (!file.isAbsent(get(name))) throw file.problem(get(name), `A job that calls a workflow has no "${name}" here.`);
  try {
    return read({ file, top, parseInner }, { key, job, path, open });
  } catch (error) {
    if (!(error instanceof WorkflowProblem) || error instanceof CallProblem) throw error;
    throw file.problem(get('uses'), `${path}, ${error.describe()}`);
  }
}

/** A problem of the calling file, found while the called one is parsed. */
class CallProblem extends WorkflowProblem {}

interface Called {
  key: string;
  job: YAMLMap;
  path: string;
  open: () => YamlFile;
}

function read(
  { file, top, parseInner }: { file: YamlFile; top: Permissions; parseInner: ParseInner },
  { key, job, path, open }: Called,
): { call: WorkflowCall; jobs: ParsedJob[] } {
  const get = (name: string): unknown => file.get(job, name);
  const own = (node: unknown, message: string) => {
    const { line, column } = file.problem(node, message);
    return new CallProblem(message, { line, column });
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
  for (const [name, { required }] of inputs)
    if (required && !given.has(name)) throw own(get('uses'), `${path} needs the input ${name}.`);
  const secrets = get('secrets');
  const jobs = parseInner(inner, inner.get(root, 'jobs'));
  const ceiling = parsePermissions(file, get('permissions')) ?? top;
  const allowed = parsePermissions(inner, inner.get(root, 'permissions'));
  const name = file.textOrNull(get('name'), '"name"') ?? key;
  const call: WorkflowCall = {
    key,
    needs: [...new Set(file.texts(get('needs'), '"needs"'))],
    condition: file.textOrNull(get('if'), '"if"'),
    inputs,
    given,
    secrets: file.isAbsent(secrets)
      ? {}
      : isMap(file.resolve(secrets))
        ? (file.json(secrets) as { [name: string]: Json })
        : 'inherit',
    jobKeys: [...jobs.keys()].map((each) => `${key}.${each}`),
    outputs: settings === null ? new Map() : parseOutputs(inner, inner.get(settings, 'outputs')),
  };
  return {
    call,
    jobs: [...jobs.values()].map(({ definition: each, ...place }) => ({
      ...place,
      definition: {
        ...each,
        key: `${key}.${each.key}`,
        call,
        prefix: `${name} / `,
        waitsFor: each.needs.map((need) => `${key}.${need}`),
        permissions: lower(each.permissions ?? allowed, ceiling),
      },
    })),
  };
}

/** A called workflow has at most the permissions of its caller. */
const lower = (wanted: Permissions, ceiling: Permissions): Permissions =>
  wanted === null || ceiling === null ? (wanted ?? ceiling) : lowerTaskPermissions(wanted, ceiling);

/** The settings under `workflow_call`: null for none, undefined when the file cannot be called. */
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

function parseOutputs(file: YamlFile, node: unknown): Map<string, string> {
  if (file.isAbsent(node)) return new Map();
  return new Map(
    file
      .entries(node, '"outputs"')
      .map(({ key, value }) => [key, file.text(file.get(file.map(value, `The output ${key}`), 'value'), '"value"')]),
  );
}
