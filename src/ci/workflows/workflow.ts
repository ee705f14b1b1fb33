import type { Json } from './json.ts';

/** A workflow file that was understood. */
export interface Workflow {
  /** Below the workflows folder: `ci.yml`. */
  path: string;
  /** What the file calls itself; its path otherwise. */
  name: string;
  runName: string | null;
  triggers: Triggers;
  concurrency: Concurrency | null;
  permissions: Permissions;
  /** In the order of the file. */
  jobs: ReadonlyMap<string, JobDefinition>;
  /** Jobs that call another workflow, by their key; the jobs of that one stand in their place. */
  calls: ReadonlyMap<string, WorkflowCall>;
}

/** What starts the workflow. Events that this server does not have are no error and start nothing. */
export interface Triggers {
  push: PushTrigger | null;
  dispatch: { inputs: ReadonlyMap<string, DispatchInput> } | null;
  /** Cron expressions, in UTC. */
  schedule: readonly string[];
  /** Every other event that the file names, such as `pull_request`: their names. */
  others: readonly string[];
}

export interface PushTrigger {
  branches: Filter | null;
  tags: Filter | null;
  paths: Filter | null;
}

/** Exactly one of the two lists of patterns that a filter may give. */
export interface Filter {
  kind: 'only' | 'ignore';
  patterns: readonly string[];
}

export type InputType = 'string' | 'boolean' | 'number' | 'choice' | 'environment';

export interface DispatchInput {
  description: string;
  required: boolean;
  type: InputType;
  default: string | null;
  /** The choices of type `choice`. */
  options: readonly string[];
}

/** `${{ }}` may stand in any of the texts. */
export interface Concurrency {
  group: string;
  /** `true`, `false`, or an expression. */
  cancelInProgress: Json;
  /** `single`: one waits, a newer one takes its place; `max`: all wait. */
  queue: 'single' | 'max';
}

/** What the task token may do with the repository's contents. */
export type Permissions = 'read' | 'write' | 'none' | null;

/** A job that calls another workflow of the repository. */
export interface WorkflowCall {
  key: string;
  needs: readonly string[];
  condition: string | null;
  inputs: ReadonlyMap<string, CallInput>;
  /** `with`; may hold expressions. */
  given: ReadonlyMap<string, Json>;
  /** All that the caller has, or these; may hold expressions. */
  secrets: 'inherit' | { readonly [name: string]: Json };
  /** Keys of the jobs that it becomes. */
  jobKeys: readonly string[];
  /** Expressions over `jobs`. */
  outputs: ReadonlyMap<string, string>;
}

export interface CallInput {
  type: 'string' | 'boolean' | 'number';
  required: boolean;
  default: Json;
}

export interface JobDefinition {
  /** As this server knows it: `test`, or `build.test` for the job `test` of the workflow that `build` calls. */
  key: string;
  /** As its own file and its runner know it. */
  ownKey: string;
  call: WorkflowCall | null;
  /** Goes before its name. */
  prefix: string;
  /** Keys of all jobs that have to end before it. */
  waitsFor: readonly string[];
  /** May hold expressions; null when the file gives none. */
  name: string | null;
  /** As its own file names them. */
  needs: readonly string[];
  condition: string | null;
  runsOn: Json;
  /** An object of axes, or an expression that gives one. */
  matrix: Json;
  failFast: Json;
  maxParallel: Json;
  continueOnError: Json;
  concurrency: Concurrency | null;
  permissions: Permissions;
  stepNames: readonly string[];
}
