import { createHash } from 'node:crypto';
import { unavailable } from '../../kernel/index.ts';
import type { TaskFailureReason, TaskLimits, WorkerPool } from '../../workers/index.ts';
import type { WorkflowFile } from './find-workflows.ts';
import { GlobMatcher, TooManySteps } from './glob.ts';
import { matchesPush } from './match-push.ts';
import type { PushedRef } from './match-push.ts';
import { knownTriggers, problemOf } from './file-finding.ts';
import type { ParsedWorkflow } from './parse-workflow.ts';
import type { PayloadRequest, run as runPayload } from './payload-task.ts';
import { WorkflowProblem } from './workflow-problem.ts';
import type { run as runPushFilters } from './push-filters-task.ts';
import type { PushTrigger } from './workflow.ts';
import { maxWorkflowBytes } from './workflow-size.ts';
import type { run as runWorkflow } from './workflow-task.ts';

const deadlineMs = 1_000;

const limits: TaskLimits = {
  // Ordinary files take ten milliseconds, the worst within all other limits about a hundred.
  deadlineMs,
  // A push can wait: a hundred files of another repository may be parsed first.
  maxWaitMs: 60_000,
  // A file, the files that it calls, and the escaping in their bundle; two bytes per character beyond Latin-1.
  maxInputBytes: 8 * maxWorkflowBytes,
  maxResultBytes: 8 * 1024 * 1024,
};

/** Messages for the author of a file whose parsing was aborted. */
const abortMessages: Readonly<Record<Exclude<TaskFailureReason, 'busy'>, string>> = {
  input_too_large: 'This file is too large together with the files that it calls.',
  result_too_large: 'This file becomes too large when it is read.',
  deadline: `This file takes more than ${deadlineMs / 1000} second to read.`,
  memory: 'This file takes too much memory to read.',
  failed: 'This file could not be read.',
};

/** Reasons that may not apply on a faster machine. */
const mayChange: readonly TaskFailureReason[] = ['deadline', 'memory', 'failed'];

export interface WorkflowSource {
  /** Path below the workflows folder. */
  path: string;
  /** `hashOf` the content. */
  hash: string;
  /** Content in the commit, bundled with the files that it calls; loaded only if no result is cached. */
  content: () => string | Promise<string>;
  /** Repository of the file: parsing is scheduled fairly among repositories. */
  client: string;
  /** Whether it was parsed successfully before; then an aborted parse is a problem of the machine, not of the file. */
  wasRead?: boolean;
}

/** A file as `findWorkflows` found it. */
export const sourceOf = (
  { path, content }: Pick<WorkflowFile, 'path' | 'content'>,
  client: string,
): WorkflowSource => ({
  path,
  hash: hashOf(content),
  content: () => content,
  client,
});

/** Filters with at most this cost, about a tenth of a millisecond, are matched on the main thread. */
const maxStepsOnMainThread = 2_000;

/** Parses workflow files of repositories in the worker pool, cached by content. */
export class WorkflowReader {
  readonly #workers: WorkerPool;

  constructor(workers: WorkerPool) {
    this.#workers = workers;
  }

  /** Returns a parsed workflow file, or its error. Throws `busy` if no worker is available. */
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
      const problem = new WorkflowProblem(abortMessages[outcome.reason], { line: 1, column: 1 });
      return { ok: false, problem, name: path, triggers: null, findings: [] };
    }
    const { value } = outcome;
    // A started run continues, even with content that an earlier version accepted.
    const refused = value.ok && !wasRead ? problemOf(value.findings) : null;
    if (value.ok && refused !== null) {
      const { name, triggers } = value.workflow;
      return { ok: false, problem: refused, name, triggers: knownTriggers(triggers), findings: value.findings };
    }
    return value.ok ? value : { ...value, problem: new WorkflowProblem(value.problem.message, value.problem) };
  }

  /** Returns the YAML for a runner. Throws if the file yields none. */
  async payload(
    { path, hash, content, client }: WorkflowSource,
    request: Pick<PayloadRequest, 'jobKey' | 'resolved'>,
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
      throw new Error(abortMessages[outcome.reason]);
    }
    if ('problem' in outcome.value) throw new Error(outcome.value.problem);
    return outcome.value.payload;
  }

  /** Whether a push triggers a workflow. Filters that exceed the step limit match nothing. */
  async startsOn(trigger: PushTrigger, ref: PushedRef, client: string): Promise<boolean> {
    try {
      return matchesPush(trigger, ref, new GlobMatcher(maxStepsOnMainThread));
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

const tooBusy = () => unavailable('busy', 'This server is busy reading files. Try again in a moment.');

/** Hash of a content, also used in the database. */
export const hashOf = (content: string): string => createHash('sha256').update(content).digest('hex');
