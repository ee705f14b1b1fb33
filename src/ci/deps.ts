import type { DefaultTaskPermissions } from '../access/index.ts';
import type { Accounts } from '../accounts/index.ts';
import type { Database } from '../db/index.ts';
import type { Git } from '../git/index.ts';
import type { Clock, Logger, Notifier, Random } from '../kernel/index.ts';
import type { Organisations } from '../organisations/index.ts';
import type { ObjectStore } from '../objects/index.ts';
import type { Owners } from '../owners/index.ts';
import type { Repositories } from '../repositories/index.ts';
import type { ArtifactStore } from './artifact-storage/artifact-store.ts';
import type { DeploymentListener, ReviewListener } from './ports/deployment-listeners.ts';
import type { LogStore } from './log-storage/log-store.ts';
import type { PullRunDeps } from './ports/pull-deps.ts';
import type { RunEndListener } from './ports/run-end-listener.ts';
import type { RunLoader } from './load-run.ts';
import type { Presence } from './runner-model/last-seen.ts';
import type { InstanceKey } from '../sealing/index.ts';
import type { TaskQueue } from './task-queue/task-queue.ts';
import type { WorkerPool } from '../workers/index.ts';
import type { WorkflowReader } from './workflows/workflow-reader.ts';
import type { TaskReports } from './task-reports.ts';

/** Dependencies of the use-cases of this module. */
export interface CiDeps {
  db: Database;
  accounts: Pick<Accounts, 'peopleById' | 'personByUsername' | 'addresses'>;
  organisations: Pick<Organisations, 'teams'>;
  owners: Pick<Owners, 'resolve' | 'ownersById'>;
  repositories: Pick<Repositories, 'locate' | 'find' | 'factsOf' | 'statuses' | 'rules'>;
  git: Git;
  objects: ObjectStore;
  clock: Clock;
  random: Random;
  logger: Logger;
  key: InstanceKey;
  presence: Presence;
  runs: RunLoader;
  workflows: WorkflowReader;
  workers: WorkerPool;
  queue: TaskQueue;
  notifier: Notifier;
  reports: TaskReports;
  logs: LogStore;
  artifacts: ArtifactStore;
  settings: CiSettings;
  /** Listeners for the end of a run; added by `onRunEnd`. */
  endings: RunEndListener[];
  /** Listeners for deployments, their statuses, and jobs that start waiting for a reviewer. */
  deploymentListeners: DeploymentListener[];
  reviewListeners: ReviewListener[];
  /** Modules that are created after this one and set by `onPull`. */
  pullSources(): PullRunDeps;
}

export interface CiSettings {
  /** Folder of logs and artifacts. */
  folder: string;
  /** The instance key, which decrypts stored secrets. */
  keyFile: string;
  /** Public origin of this server; null when it is taken from the Host header of each request. */
  baseUrl: string | null;
  /** Server that resolves `uses: owner/name`: an origin, or `self`. */
  actionsUrl: string;
  /** Whether events start workflows; started runs continue in any case. */
  isEnabled: boolean;
  /** Permissions of the job token if neither its workflow nor its repository sets them. */
  tokenPermissions: DefaultTaskPermissions;
  /** Time limit of a job, in milliseconds. */
  maxTaskMs: number;
  /** How long a job may wait for a runner before it is cancelled, in milliseconds. */
  maxWaitMs: number;
  /** How long a job without a matching runner may wait before it fails, in milliseconds. */
  maxUnroutableMs: number;
  /** Whether a job is retried once if its runner is lost. */
  retriesLostJobs: boolean;
  /** Size limit of one log in bytes; later rows are dropped. */
  maxLogBytes: number;
  /** Retention of ended runs in milliseconds; logs and artifacts expire no later. */
  runTtlMs: number;
  logTtlMs: number;
  artifactTtlMs: number;
  /** Size limits in bytes: per artifact and per run. */
  maxArtifactBytes: number;
  maxRunArtifactBytes: number;
  /** Free disk space in bytes below which artifacts are rejected. */
  lowDiskFloorBytes: number;
}
