import { createHash } from 'node:crypto';
import { unavailable } from '../../kernel/index.ts';
import type { GiveUpReason, TaskLimits, WorkerPool } from '../../workers/index.ts';
import type { WorkflowFile } from './find-workflows.ts';
import { GlobMatcher, TooManySteps } from './glob.ts';
import { matchesPush } from './match-push.ts';
import type { PushedRef } from './match-push.ts';
import type { ParsedWorkflow } from './parse-workflow.ts';
import type { PayloadRequest, run as runPayload } from './payload-task.ts';
import { WorkflowProblem } from './problem.ts';
import type { run as runPushFilters } from './push-filters-task.ts';
import type { PushTrigger } from './workflow.ts';
import { maxWorkflowBytes } from './workflow-size.ts';
import type { run as runWorkflow } from './workflow-task.ts';

const deadlineMs = 1_000;

const limits: TaskLimits = {
  // Ordinary files take ten milliseconds, the worst that pass all other limits some hundred.
  deadlineMs,
  // Behind a push there is time: a hundred files of another repository may be read first.
  patienceMs: 60_000,
  // A file, those that it calls, and what escaping in their bundle adds; beyond Latin-1 two bytes for each character.
  maxInputBytes: 8 * maxWorkflowBytes,
  maxResultBytes: 8 * 1024 * 1024,
};

/** What a file is refused for that was given up, in words for whoever wrote it. */
const giveUpWords: Readonly<Record<Exclude<GiveUpReason, 'busy'>, string>> = {
  input_too_large: 'This file is too large together with the files that it calls.',
  result_too_large: 'This file becomes too large when it is read.',
  deadline: `This file takes more than ${deadlineMs / 1000} second to read.`,
  memory: 'This file takes too much memory to read.',
  failed: 'This file could not be read.',
};

/** What a machine with more time may answer differently. */
const mayChange: readonly GiveUpReason[] = ['deadline', 'memory', 'failed'];

export interface WorkflowSource {
  /** Below the workflows folder. */
  path: string;
  /** `hashOf` the content. */
  hash: string;
  /** As it stands in a commit, with the files that it calls; asked for only when nobody has read it yet. */
  content: () => string | Promise<string>;
  /** Whose file it is: repositories take turns. */
  client: string;
  /** Whether it is known that it can be read; then giving it up says something of the machine, not of the file. */
  wasRead?: boolean;
}

/** A file as `findWorkflows` found it. */
export const sourceOf = ({ path, content }: WorkflowFile, client: string): WorkflowSource => ({
  path,
  hash: hashOf(content),
  content: () => content,
  client,
});

/** Filters that cost no more than this, about a tenth of a millisecond, are not worth a thread. */
const stepsHere = 2_000;

/** Reads what repositories say of their workflows: in the worker pool, each content once. */
export class WorkflowReader {
  readonly #workers: WorkerPool;

  constructor(workers: WorkerPool) {
    this.#workers = workers;
  }

  /** A workflow file, or what is wrong with it. Refuses `busy` when nobody could look at it. */
  async read({ path, hash, content, client, wasRead = false }: WorkflowSource): Promise<ParsedWorkflow> {
    const outcome = await this.#workers.run<typeof runWorkflow>({
      task: 'workflow',
      key: `${hash} ${path}`,
      input: async () => ({ path, content: await content() }),
      client,
      limits,
    });
    if (!outcome.ok) {
      if (outcome.reason === 'busy' || (wasRead && mayChange.includes(outcome.reason))) throw tooBusy();
      const problem = new WorkflowProblem(giveUpWords[outcome.reason], { line: 1, column: 1 });
      return { ok: false, problem, name: path, triggers: null };
    }
    const { value } = outcome;
    return value.ok ? value : { ...value, problem: new WorkflowProblem(value.problem.message, value.problem) };
  }

  /** The YAML for a runner. Throws when the file makes none. */
  async payload(
    { path, hash, content, client }: WorkflowSource,
    request: Pick<PayloadRequest, 'jobKey' | 'settled'>,
  ): Promise<string> {
    const outcome = await this.#workers.run<typeof runPayload>({
      task: 'workflow-payload',
      key: `${hash} ${path} ${hashOf(JSON.stringify(request))}`,
      input: async () => ({ ...request, path, content: await content() }),
      client,
      limits,
    });
    if (!outcome.ok) {
      if (outcome.reason === 'busy') throw tooBusy();
      throw new Error(giveUpWords[outcome.reason]);
    }
    if ('problem' in outcome.value) throw new Error(outcome.value.problem);
    return outcome.value.payload;
  }

  /** Whether a push starts a workflow. Filters that cost too much to look at let nothing in. */
  async startsOn(trigger: PushTrigger, ref: PushedRef, client: string): Promise<boolean> {
    try {
      return matchesPush(trigger, ref, new GlobMatcher(stepsHere));
    } catch (error) {
      if (!(error instanceof TooManySteps)) throw error;
    }
    const outcome = await this.#workers.run<typeof runPushFilters>({
      task: 'push-filters',
      key: hashOf(JSON.stringify({ trigger, ref })),
      input: () => ({ trigger, ref }),
      client,
      limits,
    });
    return outcome.ok && outcome.value;
  }
}

const tooBusy = () => unavailable('busy', 'This server has too many files to read. Please try again in a moment.');

/** What a content is known by, here as in the database. */
export const hashOf = (content: string): string => createHash('sha256').update(content).digest('hex');
