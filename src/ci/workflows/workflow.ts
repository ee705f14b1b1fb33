import type { TaskPermissions } from '../../access/index.ts';
import type { CalledCommit } from './bundle.ts';
import type { MatrixCombination } from './expand-matrix.ts';
import type { Json } from './json-value.ts';

/** A parsed workflow file. */
export interface Workflow {
  /** Path below the workflows folder: `ci.yml`. */
  path: string;
  /** The `name` in the file, or its path. */
  name: string;
  /** Whether the file has a `name`. */
  isNamed: boolean;
  runName: string | null;
  triggers: Triggers;
  concurrency: Concurrency | null;
  permissions: Permissions;
  /** In the order of the file. */
  jobs: ReadonlyMap<string, JobDefinition>;
  /**
   * Calls of other workflows, by the keys of their callers and their own; one call per combination of the matrix. The
   * jobs of the called workflow replace the calling job.
   */
  calls: ReadonlyMap<string, readonly WorkflowCall[]>;
}

/** The triggers of the workflow. Unsupported events are not errors, but trigger nothing. */
export interface Triggers {
  push: PushTrigger | null;
  pull: PullTrigger | null;
  mergeGroup: MergeGroupTrigger | null;
  dispatch: { inputs: ReadonlyMap<string, DispatchInput> } | null;
  schedule: readonly Schedule[];
  /** Events that start it, by name and activity type. */
  events: ReadonlyMap<PlainEventName, EventTrigger>;
  /** Names of all other events in the file, such as `pull_request_target`. */
  others: readonly string[];
}

/** A cron expression. */
export interface Schedule {
  /** As in the file, which may begin with a zone: `TZ=Asia/Tokyo 0 4 * * *`. */
  cron: string;
  /** IANA name of its key `timezone`; null without one. */
  timeZone: string | null;
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
/** Events that start runs; others in a file trigger nothing. */
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

/** An event without filters of its own, except for `workflow_run`. */
export interface EventTrigger {
  /** Activity types; null for all. */
  types: readonly string[] | null;
  /** `workflow_run`: names of the workflows whose runs it follows, and their branches. */
  workflows: readonly string[];
  branches: Filter | null;
}

export interface PushTrigger {
  branches: Filter | null;
  tags: Filter | null;
  paths: Filter | null;
}

/** `pull_request`: filters on the base branch and on the changed files. */
export interface PullTrigger {
  /** Activity types; null for the default ones. */
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
  /** Options of type `choice`. */
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

/** Environment of a job; both texts may contain `${{ }}`. */
export interface JobEnvironment {
  name: string;
  url: string | null;
  /** `true`, `false`, or an expression: whether the job creates a deployment, or only uses the environment. */
  deployment: Json;
}

/** Permissions of the task token that the file requests; null if it does not specify them. */
export type Permissions = TaskPermissions | null;

/** A job that calls another workflow, with one combination of its matrix. */
export interface WorkflowCall {
  /** `build`, `build#1` for the second combination, `build.pack` for a call in the workflow that `build` calls. */
  key: string;
  /** The call that contains this one; null in the file of the run. */
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
  /** A strategy with expressions, evaluated once `needs` have ended; null once it is known. */
  pending: CallStrategy | null;
  /** Whether the calls of the other combinations are cancelled when a job of this one fails. */
  failFast: boolean;
  /** Limit of calls of the matrix with running jobs at a time; null for no limit. */
  maxParallel: number | null;
  /** The called file. */
  file: CalledFile;
  /** Expressions over `jobs`. */
  outputs: ReadonlyMap<string, string>;
}

export interface CallStrategy {
  matrix: Json;
  failFast: Json;
  maxParallel: Json;
}

/** A called file, from the commit of the run or from another repository. */
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
  /** The key on this server: `test`, or with the key of its call in front: `build.test`. */
  key: string;
  /** The key in its own file and on its runner. */
  ownKey: string;
  call: WorkflowCall | null;
  /** Prefix of its name. */
  prefix: string;
  /** Keys of all jobs that must end before it. */
  waitsFor: readonly string[];
  /** May contain expressions; null if the file has none. */
  name: string | null;
  /** Names used in its own file. */
  needs: readonly string[];
  condition: string | null;
  runsOn: Json;
  /** An object of axes, or an expression that returns one. */
  matrix: Json;
  failFast: Json;
  maxParallel: Json;
  continueOnError: Json;
  concurrency: Concurrency | null;
  permissions: Permissions;
  environment: JobEnvironment | null;
  stepNames: readonly string[];
  /** Why runners cannot execute it; null if they can. */
  unsupported: string | null;
}
