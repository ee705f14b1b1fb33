import { Document, isAlias, isMap, isScalar, isSeq, Pair, Scalar, YAMLMap, YAMLSeq } from 'yaml';
import type { Node } from 'yaml';
import type { ParsedJob } from './parsed-job.ts';
import type { Json } from './json-value.ts';
import { environmentUrlOutput } from './environment-url.ts';
import { isMergeKey } from './merge-keys.ts';
import { substituteContexts, substituteInCondition } from './substitute-contexts.ts';
import type { KnownContexts } from './substitute-contexts.ts';
import type { YamlFile } from './yaml-nodes.ts';
import type { MatrixCombination } from './expand-matrix.ts';

/** The parts of a job that the server resolves before a runner gets it. */
export interface ResolvedJob {
  /** `github.workflow`: runners read it from the file. */
  workflow: string;
  name: string;
  combination: MatrixCombination;
  runsOn: Json;
  continueOnError: boolean;
  /** Its position in its matrix, and the settings of the matrix. */
  strategy: { 'fail-fast': boolean; 'job-index': number; 'job-total': number; 'max-parallel': number };
  /** Inputs of the called workflow that this job belongs to; null for a job of the run's own file. */
  inputs: { readonly [name: string]: Json } | null;
}

/** Parts of the file that runners read; `on`, because it defines types and defaults of inputs. */
const topLevelKeys = ['run-name', 'on', 'env', 'defaults', 'permissions'];

/** Node limit after expanding aliases, above any real file. An alias may even contain itself. */
const maxNodes = 100_000;
const maxDepth = 100;

/**
 * Writes the YAML for a runner: the file with exactly one job, its matrix reduced to one value per axis. Runners
 * rebuild `needs` from the task. The server has already decided that the job runs, so its condition is always true.
 * Steps are nodes of the file itself: a quoted "3.10" stays quoted. Throws `WorkflowProblem` if aliases make the file
 * explode.
 */
export function writePayload(parsed: ParsedJob, resolved: ResolvedJob): string {
  const { file, definition } = parsed;
  const contexts: KnownContexts = new Map<string, { readonly [name: string]: Json }>([
    ['strategy', resolved.strategy],
    ...(resolved.inputs === null ? [] : [['inputs', resolved.inputs] as const]),
  ]);
  const plain = new Copier(file, new Map());
  const copier = new Copier(file, contexts);
  const root = file.map(file.document.contents, 'the file');
  const top = new YAMLMap();
  top.items.push(new Pair(new Scalar('name'), new Scalar(resolved.workflow)));
  for (const name of topLevelKeys) {
    const node = file.get(root, name);
    // `on` has no expressions of the job: defaults of inputs belong to the caller.
    if (!file.isAbsent(node)) top.items.push(new Pair(new Scalar(name), (name === 'on' ? plain : copier).copy(node)));
  }
  const jobs = new YAMLMap();
  jobs.items.push(new Pair(new Scalar(definition.ownKey), writeJob(copier, parsed, resolved)));
  substituteInSteps(jobs.get(definition.ownKey) as YAMLMap, contexts);
  top.items.push(new Pair(new Scalar('jobs'), jobs));
  const document = new Document();
  document.contents = top as never;
  return document.toString({ lineWidth: 0, flowCollectionPadding: false, verifyAliasOrder: false });
}

function writeJob(
  copier: Copier,
  { definition, node }: ParsedJob,
  { name, combination, runsOn, continueOnError }: ResolvedJob,
): YAMLMap {
  const job = copier.copy(node) as YAMLMap;
  writeSteps(job);
  const set = (key: string, value: Json): void => {
    job.set(key, new Document(value).contents);
  };
  job.delete('needs');
  job.delete('concurrency');
  // The server handles the environment; a runner only reports its URL, which may depend on steps.
  job.delete('environment');
  const url = definition.environment?.url ?? null;
  if (url?.includes('${{') === true) job.setIn(['outputs', environmentUrlOutput], copier.text(url));
  if (definition.needs.length > 0 || definition.condition !== null) set('if', 'always()');
  set('name', name);
  set('runs-on', runsOn);
  if (job.has('continue-on-error')) set('continue-on-error', continueOnError);
  const axes = Object.entries(combination);
  if (!isMap(job.get('strategy'))) job.delete('strategy');
  if (axes.length > 0)
    job.setIn(
      ['strategy', 'matrix'],
      new Document(Object.fromEntries(axes.map(([axis, value]) => [axis, [value]]))).contents,
    );
  return job;
}

/** Converts steps for runners: groups are flattened in order, actions of the own repository are named by path. */
function writeSteps(job: YAMLMap): void {
  const steps = job.get('steps');
  if (!isSeq(steps)) return;
  steps.items = steps.items.flatMap((step) => {
    const group = isMap(step) ? step.get('parallel') : null;
    return isSeq(group) ? group.items : [step];
  });
  for (const step of steps.items) {
    const uses = isMap(step) ? step.get('uses', true) : null;
    if (isScalar(uses) && typeof uses.value === 'string' && uses.value.startsWith('$/'))
      uses.value = `.${uses.value.slice(1)}`;
  }
}

/** The `if` of a step may be an expression without `${{ }}`. */
function substituteInSteps(job: YAMLMap, contexts: KnownContexts): void {
  const steps = job.get('steps');
  for (const step of isSeq(steps) ? steps.items : []) {
    const condition = isMap(step) ? step.get('if', true) : null;
    if (isScalar(condition) && typeof condition.value === 'string')
      condition.value = substituteInCondition(condition.value, contexts);
  }
}

/** Copies nodes; expands aliases and merged keys, because their anchors are not copied. */
class Copier {
  readonly #file: YamlFile;
  readonly #contexts: KnownContexts;
  #count = 0;
  #depth = 0;

  /**
   * @param contexts values to write into the expressions of all texts
   */
  constructor(file: YamlFile, contexts: KnownContexts) {
    this.#file = file;
    this.#contexts = contexts;
  }

  /** Copies a text of the file to another place in the payload. */
  text(text: string): string {
    return substituteContexts(text, this.#contexts);
  }

  copy(node: unknown): Node | null {
    this.#count += 1;
    this.#depth += 1;
    if (this.#count > maxNodes || this.#depth > maxDepth)
      throw this.#file.problem(node, 'The aliases of this file make it too large.');
    const copied = this.#copyOne(node);
    this.#depth -= 1;
    return copied;
  }

  #copyOne(node: unknown): Node | null {
    if (isAlias(node)) return this.copy(this.#file.resolve(node));
    if (isMap(node)) return this.#copyMap(node as YAMLMap);
    if (isSeq(node)) {
      const list = new YAMLSeq();
      list.items = node.items.map((item) => this.copy(item));
      return list;
    }
    if (!isScalar(node)) return null;
    if (typeof node.value === 'string') this.#file.countText(node, node.value.length);
    const scalar = node.clone() as Scalar;
    delete scalar.anchor;
    if (typeof scalar.value === 'string') scalar.value = substituteContexts(scalar.value, this.#contexts);
    return scalar;
  }

  #copyMap(node: YAMLMap): YAMLMap {
    const copied = new YAMLMap();
    if (node.items.some(({ key }) => isMergeKey(key))) {
      const merged = new Map(this.#file.entries(node, 'the mapping').map(({ key, value }) => [key, value]));
      for (const { key, value } of node.items)
        if (isScalar(key) && !isMergeKey(key)) merged.set(String(key.value), value);
      for (const [key, value] of merged) copied.items.push(new Pair(new Scalar(key), this.copy(value)));
      return copied;
    }
    for (const { key, value } of node.items) copied.items.push(new Pair(this.copy(key), this.copy(value)));
    return copied;
  }
}
