import type { Accounts } from '../accounts/index.ts';
import type { Database } from '../db/index.ts';
import type { Git } from '../git/index.ts';
import type { Clock, Logger, Notifier, Random } from '../kernel/index.ts';
import type { Repositories } from '../repositories/index.ts';
import type { ArtifactStore } from './artifacts/artifact-store.ts';
import type { LogStore } from './logs/log-store.ts';
import type { RunEnding } from './runs/run-ending.ts';
import type { RunLoader } from './runs/load-run.ts';
import type { Presence } from './runners/presence.ts';
import type { InstanceKey } from '../sealing/index.ts';
import type { TaskQueue } from './tasks/task-queue.ts';
import type { WorkflowReader } from './workflows/workflow-reader.ts';
import type { TaskReports } from './tasks/task-reports.ts';

/** What the use-cases of this room work with. */
export interface CiDeps {
  db: Database;
  accounts: Pick<Accounts, 'peopleById'>;
  repositories: Pick<Repositories, 'locate' | 'find' | 'setCommitStatus' | 'removeCommitStatus' | 'removeStatusesTo'>;
  git: Git;
  clock: Clock;
  random: Random;
  logger: Logger;
  key: InstanceKey;
  presence: Presence;
  runs: RunLoader;
  workflows: WorkflowReader;
  queue: TaskQueue;
  notifier: Notifier;
  reports: TaskReports;
  logs: LogStore;
  artifacts: ArtifactStore;
  settings: CiSettings;
  /** Who hears of the end of a run; plugged in by `onRunEnd`. */
  endings: RunEnding[];
}

export interface CiSettings {
  /** Where logs and artifacts live. */
  folder: string;
  /** What opens stored secrets. */
  keyFile: string;
  /** Origin that people know this server by; null when each request tells. */
  baseUrl: string | null;
  /** Where `uses: owner/name` is looked up: an origin, or `self`. */
  actionsUrl: string;
  /** A job that runs longer is ended, in milliseconds. */
  maxTaskMs: number;
  /** A job that no runner took in this time is cancelled. */
  maxWaitMs: number;
  /** A job whose labels no runner has fails after this time. */
  maxUnroutableMs: number;
  /** Beyond this, rows of one log are dropped, in bytes. */
  maxLogBytes: number;
  logsKeptMs: number;
  artifactsKeptMs: number;
  /** One artifact, and all of one run, in bytes. */
  maxArtifactBytes: number;
  maxRunArtifactBytes: number;
  /** Below this much free space no artifact is taken, in bytes. */
  lowDiskFloorBytes: number;
}
