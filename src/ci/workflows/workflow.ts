import type { TaskPermissions } from '../../access/index.ts';
import type { CalledCommit } from './bundle.ts';
import type { MatrixCombination } from './expand-matrix.ts';
import type { Json } from './json.ts';

/** A parsed workflow file. */
export interface Workflow {
  /** Path below the workflows folder: `ci.yml`. */
  path: string;
  /** The `name` of the file; its path otherwise. */
  name: string;
  /** Whether the file gives a `name`. */
  isNamed: boolean;
  runName: string | null;
  triggers: Triggers;
  concurrency: Concurrency | null;
  permissions: Permissions;
  /** In the order of the file. */
  jobs: ReadonlyMap<string, JobDefinition>;
  /**
   * Jobs that call another workflow, by their key, and by the keys of their callers before it: one call for each
   * combination of the matrix. The jobs of the called workflow replace them.
   */
  calls: ReadonlyMap<string, readonly WorkflowCall[]>;
}

/** The triggers of the workflow. Unsupported events are no error and trigger nothing. */
export interface Triggers {
  push: PushTrigger | null;
  pull: PullTrigger | null;
  mergeGroup: MergeGroupTrigger | null;
  dispatch: { inputs: ReadonlyMap<string, DispatchInput> } | null;
  /** Cron expressions, in UTC. */
  schedule: readonly string[];
  /** Events that start it by their name and activity type. */
  events: ReadonlyMap<PlainEventName, EventTrigger>;
  /** Names of all other events in the file, such as `pull_request_target`. */
  others: readonly string[];
}

export const plainEvents = [
  'create',
  'delete',
  'issue_comment',
  'issues',
  'release',
  'repository_dispatch',
  'workflow_run',
] as const;
/** All events that start runs; others in a file trigger nothing. */
export const eventNames = [
  'push',
  'pull_request',
  'merge_group',
  'workflow_dispatch',
  'schedule',
  ...plainEvents,
] as const;
export type EventName = (typeof eventNames)[number];
export type PlainEventName = (typeof plainEvents)[number];

/** An event without filters of its own, apart from `workflow_run`. */
export interface EventTrigger {
  /** Activity types; null for all. */
  types: readonly string[] | null;
  /** `workflow_run`: names of the workflows whose runs it follows, and the branches of those. */
  workflows: readonly string[];
  branches: Filter | null;
}

export interface PushTrigger {
  branches: Filter | null;
  tags: Filter | null;
  paths: Filter | null;
}

/** `pull_request`: filters on the base branch and on the files that it changes. */
export interface PullTrigger {
  /** Activity types; null for the usual ones. */
  types: readonly string[] | null;
  branches: Filter | null;
  paths: Filter | null;
}

/** `merge_group`: filters on the base branch. */
export interface MergeGroupTrigger {
  branches: Filter | null;
}

/** Exactly one of the two lists of patterns that a filter may have. */
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

/** Each text may contain `${{ }}`. */
export interface Concurrency {
  group: string;
  /** `true`, `false`, or an expression. */
  cancelInProgress: Json;
  /** `single`: one waits, a newer one replaces it; `max`: all wait. */
  queue: 'single' | 'max';
}

/** Where a job deploys to; both texts may contain `${{ }}`. */
export interface JobEnvironment {
  name: string;
  url: string | null;
  /** `true`, `false`, or an expression: whether the job is a deployment, or uses the environment alone. */
  deployment: Json;
}

/** What the file asks for the task's token; null where it does not say. */
export type Permissions = TaskPermissions | null;

/** A job that calls another workflow, with one combination of its matrix. */
export interface WorkflowCall {
  /** `build`, `build#1` for the second combination, `build.pack` for a call in the workflow that `build` calls. */
  key: string;
  /** The call of the file that this one stands in; null in the file of the run. */
  outer: WorkflowCall | null;
  combination: MatrixCombination;
  needs: readonly string[];
  condition: string | null;
  inputs: ReadonlyMap<string, CallInput>;
  /** `with`; may contain expressions. */
  given: ReadonlyMap<string, Json>;
  /** All secrets of the caller, or these; may contain expressions. */
  secrets: 'inherit' | { readonly [name: string]: Json };
  /** Name of the calling job; may contain expressions over its matrix. */
  name: string;
  /** A strategy with expressions, which is evaluated when `needs` have ended; null once it is known. */
  pending: CallStrategy | null;
  /** Whether the calls of the other combinations are cancelled when a job of this one fails. */
  failFast: boolean;
  /** How many calls of the matrix have running jobs at a time; null for all. */
  maxParallel: number | null;
  /** The file that it calls. */
  file: CalledFile;
  /** Expressions over `jobs`. */
  outputs: ReadonlyMap<string, string>;
}

export interface CallStrategy {
  matrix: Json;
  failFast: Json;
  maxParallel: Json;
}

/** A called file: of the commit of the run, or of another repository's. */
export interface CalledFile {
  /** From the root of its repository. */
  path: string;
  commit: CalledCommit | null;
}

export interface CallInput {
  type: 'string' | 'boolean' | 'number';
  required: boolean;
  default: Json;
}

export interface JobDefinition {
  /** The key on this server: `test`, or that of its call before it: `build.test`. */
  key: string;
  /** The key in its own file and on its runner. */
  ownKey: string;
  call: WorkflowCall | null;
  /** Prefix of its name. */
  prefix: string;
  /** Keys of all jobs that have to end before it. */
  waitsFor: readonly string[];
  /** May contain expressions; null when the file gives none. */
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
  environment: JobEnvironment | null;
  stepNames: readonly string[];
  /** Why no runner can run it; null when one can. */
  unsupported: string | null;
}
