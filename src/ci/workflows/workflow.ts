import type { Json } from './yaml-nodes.ts';
import type { YamlFile } from './yaml-nodes.ts';

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
  file: YamlFile;
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

export interface JobDefinition {
  key: string;
  /** May hold expressions; null when the file gives none. */
  name: string | null;
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
  /** Where messages about the whole job point to. */
  keyNode: unknown;
  node: unknown;
}
