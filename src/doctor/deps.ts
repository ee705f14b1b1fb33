import type { BackupState } from '../backup/index.ts';
import type { Config } from '../config/index.ts';
import type { Database, ThreadRow, DatabaseThread } from '../db/index.ts';
import type { Git } from '../git/index.ts';
import type { Clock } from '../kernel/index.ts';
import type { Nodes } from '../nodes/index.ts';
import type { ObjectStore } from '../objects/index.ts';
import type { SingleSignOn } from '../single-sign-on/index.ts';
import type { GroupReport } from './check-result.ts';
import type { IntegrityRecord } from './integrity/integrity-records.ts';

/** What trials of a recovery from the store have shown; times are epoch milliseconds. */
export interface RecoveryState {
  newest: { at: number; faults: readonly string[] } | null;
  succeededAt: number | null;
}

/** The dependencies of the checks. */
export interface DoctorDeps {
  config: Config;
  db: Database;
  git: Git;
  nodes: Pick<Nodes, 'list'>;
  objects: ObjectStore;
  /** The folder of a server whose objects are in a bucket. */
  objectFolder?: ObjectStore | null;
  singleSignOn: Pick<SingleSignOn, 'check'>;
  clock: Clock;
  /** The settings file in use; null without one. */
  settingsFile: string | null;
  /** The user that runs the server; null if the system has no such ids. */
  userId: number | null;
  backupState(): Promise<BackupState>;
  /** Null where no repository is in the store. */
  recovery: { state(): Promise<RecoveryState> } | null;
  /** The first entry of the audit log that breaks the chain; null if the log is intact. */
  auditBreak(): Promise<{ id: number; why: string } | null>;
}

/** With a worker thread for long statements. */
export interface CheckContext extends DoctorDeps {
  thread: DatabaseThread;
  now: number;
  /** Whether to read every object. */
  isDeep: boolean;
  /** Results of the nightly readings, by subject. */
  damage: ReadonlyMap<string, IntegrityRecord>;
  onProgress: OnProgress;
}

/** The total is 0 if it is unknown. */
export type OnProgress = (step: { done: number; total: number; item: string }) => void;

export type CheckGroup = (deps: CheckContext) => Promise<GroupReport>;

/** Rows of one statement, from the worker thread: some of these scan whole tables. */
export async function rowsOf({ thread }: CheckContext, sql: string, parameters: unknown[] = []): Promise<ThreadRow[]> {
  const [rows = []] = await thread.run([{ sql, parameters }]);
  return rows;
}

export const hourMs = 3_600_000;
export const dayMs = 24 * hourMs;

/** `1 repository`, `3 repositories`. */
export const counted = (count: number, one: string, many: string): string => `${count} ${count === 1 ? one : many}`;
