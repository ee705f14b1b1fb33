import { isScalar, isSeq } from 'yaml';
import type { YAMLMap } from 'yaml';
import { parseConcurrency, parseEnvironment, parsePermissions } from './parse-settings.ts';
import { maxCalls, parseCall } from './parse-call.ts';
import type { CallingFile, ParsedJobs, ParseInner } from './parse-call.ts';
import { chainOf, jobKeysOf } from './workflow-calls.ts';
import type { JobDefinition, WorkflowCall } from './workflow.ts';
import { controlOf, stepsOf, unsupportedIn } from './steps.ts';
import type { ParsedJob } from './parsed-job.ts';
import type { YamlFile } from './yaml-nodes.ts';

const jobKey = /^[A-Za-z_][A-Za-z0-9_-]*$/;
const maxJobs = 256;
const maxSteps = 1000;

/** Parses `jobs` and checks `needs`. Throws `WorkflowProblem`. */
export function parseJobs(calling: CallingFile, node: unknown): ParsedJobs {
  const { file } = calling;
  if (file.isAbsent(node)) throw file.problem(node, 'A workflow needs "jobs".');
  const jobs = new Map<string, ParsedJob>();
  const calls = new Map<string, readonly WorkflowCall[]>();
  const outer = new Map<string, Needing>();
  // A file that many jobs call is parsed once.
  const understood = new Map<YamlFile, ParsedJobs>();
  const parseInner: ParseInner = (called, at, place) => {
    const depth = calling.depth + 1;
    const known = understood.get(called) ?? parseJobs({ file: called, called: calling.called, depth, ...place }, at);
    understood.set(called, known);
    return known;
  };
  for (const { key, keyNode, value } of file.entries(node, '"jobs"')) {
    checkKey(file, key, keyNode);
    const job = file.map(value, `The job ${key}`);
    if (file.isAbsent(file.get(job, 'uses'))) {
      const parsed = parseJob(calling, key, keyNode, job);
      jobs.set(key, parsed);
      outer.set(key, { key, needs: parsed.definition.needs, keyNode });
      continue;
    }
    const parsed = parseCall(calling, { key, job, jobsLeft: maxJobs - jobs.size }, parseInner);
    outer.set(key, { key, needs: parsed.needs, keyNode });
    for (const [name, list] of parsed.calls) calls.set(name, list);
    for (const each of parsed.jobs) jobs.set(each.definition.key, each);
    if (jobs.size > maxJobs || calls.size > maxCalls) break;
  }
  if (jobs.size === 0 && calls.size === 0) throw file.problem(node, 'A workflow needs at least one job.');
  if (jobs.size > maxJobs) throw file.problem(node, `A workflow has at most ${maxJobs} jobs.`);
  if (calls.size > maxCalls)
    throw file.problem(node, `A workflow has at most ${maxCalls} calls, those of called workflows included.`);
  checkNeeds(file, outer);
  const keysOf = (needs: readonly string[]): string[] =>
    needs.flatMap((need) => jobKeysOf({ jobs, calls }, null, need));
  for (const { definition, ...place } of jobs.values()) {
    const { key, call, needs, waitsFor } = definition;
    const [outermost] = chainOf(call);
    const all = outermost === undefined ? keysOf(needs) : [...waitsFor, ...keysOf(outermost.needs)];
    jobs.set(key, { ...place, definition: { ...definition, waitsFor: all } });
  }
  return { jobs, calls };
}

function checkKey(file: YamlFile, key: string, keyNode: unknown): void {
  if (!jobKey.test(key) || key.length > 100) {
    throw file.problem(keyNode, 'A job id consists of letters, digits, "-" and "_", and begins with a letter or "_".');
  }
}

function parseJob({ file, base }: CallingFile, key: string, keyNode: unknown, job: YAMLMap): ParsedJob {
  const get = (name: string): unknown => file.get(job, name);
  if (file.isAbsent(get('runs-on'))) throw file.problem(keyNode, `The job ${key} needs "runs-on".`);
  const { matrix, failFast, maxParallel } = parseStrategy(file, get('strategy'));
  const definition: JobDefinition = {
    key,
    ownKey: key,
    call: null,
    prefix: '',
    waitsFor: [],
    name: file.textOrNull(get('name'), '"name"'),
    needs: [...new Set(file.texts(get('needs'), '"needs"'))],
    condition: file.textOrNull(get('if'), '"if"'),
    runsOn: file.json(get('runs-on')),
    matrix,
    failFast,
    maxParallel,
    continueOnError: file.json(get('continue-on-error')) ?? false,
    concurrency: parseConcurrency(file, get('concurrency')),
    permissions: parsePermissions(file, get('permissions')),
    environment: parseEnvironment(file, get('environment')),
    stepNames: parseSteps(file, key, keyNode, job),
    unsupported: unsupportedIn(file, job, base),
  };
  return { definition, file, node: job };
}

/** The whole strategy may be an expression; then its parts are read from the result. */
function parseStrategy(file: YamlFile, node: unknown): Pick<JobDefinition, 'matrix' | 'failFast' | 'maxParallel'> {
  if (file.isAbsent(node)) return { matrix: null, failFast: true, maxParallel: null };
  const text = isScalar(file.resolve(node)) ? file.text(node, '"strategy"').trim() : '';
  const [, whole] = /^\$\{\{([^]*)\}\}$/.exec(text) ?? [];
  if (whole !== undefined)
    return {
      matrix: `\${{ (${whole}).matrix }}`,
      failFast: `\${{ (${whole})['fail-fast'] != false }}`,
      maxParallel: `\${{ (${whole})['max-parallel'] }}`,
    };
  const strategy = file.map(node, '"strategy"');
  const matrixNode = file.get(strategy, 'matrix');
  const matrix = file.json(matrixNode);
  if (matrix !== null && typeof matrix !== 'object' && !isExpression(matrix))
    throw file.problem(matrixNode, '"matrix" is a mapping of lists, or an expression that gives one.');
  return {
    matrix,
    failFast: file.json(file.get(strategy, 'fail-fast')) ?? true,
    maxParallel: file.json(file.get(strategy, 'max-parallel')),
  };
}

const isExpression = (value: unknown): boolean => typeof value === 'string' && value.includes('${{');

/** The displayed name of each step: its own, or the first line of its command. */
function parseSteps(file: YamlFile, key: string, keyNode: unknown, job: YAMLMap): string[] {
  const node = file.get(job, 'steps');
  const list = file.resolve(node);
  if (!isSeq(list) || list.items.length === 0) throw file.problem(node ?? keyNode, `The job ${key} needs "steps".`);
  const steps = stepsOf(file, node);
  if (steps.length > maxSteps) throw file.problem(node, `A job has at most ${maxSteps} steps.`);
  return steps.map((item) => {
    const step = file.map(item, 'A step');
    const get = (name: string): unknown => file.get(step, name);
    const control = controlOf(file, step);
    if (control !== null) return control;
    const runs = !file.isAbsent(get('run'));
    if (runs === !file.isAbsent(get('uses'))) throw file.problem(item, 'A step needs either "run" or "uses".');
    const name = file.textOrNull(get('name'), '"name"');
    return (
      name ?? (runs ? `Run ${firstLine(file.text(get('run'), '"run"'))}` : `Use ${file.text(get('uses'), '"uses"')}`)
    );
  });
}

const firstLine = (text: string): string => text.trim().split('\n', 1)[0]!.slice(0, 120);

interface Needing {
  key: string;
  needs: readonly string[];
  keyNode: unknown;
}

/** Rejects unknown needs and cycles. */
function checkNeeds(file: YamlFile, jobs: ReadonlyMap<string, Needing>): void {
  const done = new Set<string>();
  const visit = (job: Needing, path: readonly string[]): void => {
    if (path.includes(job.key))
      throw file.problem(job.keyNode, `The job ${job.key} needs itself: ${[...path, job.key].join(' → ')}.`);
    if (done.has(job.key)) return;
    for (const need of job.needs) {
      const needed = jobs.get(need);
      if (needed === undefined)
        throw file.problem(job.keyNode, `The job ${job.key} needs ${need}, which is not there.`);
      visit(needed, [...path, job.key]);
    }
    done.add(job.key);
  };
  for (const job of jobs.values()) visit(job, []);
}
