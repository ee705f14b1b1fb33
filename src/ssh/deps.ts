import type { WorkerPool } from '../workers/index.ts';
import type { Accounts } from '../accounts/index.ts';
import type { Config } from '../config/index.ts';
import type { Git } from '../git/index.ts';
import type { Issues } from '../issues/index.ts';
import type { Clock, Logger, Random } from '../kernel/index.ts';
import type { Nodes } from '../nodes/index.ts';
import type { SharedHostKeys } from './keys/host-key.ts';
import type { Lfs } from '../lfs/index.ts';
import type { Pulls } from '../pulls/index.ts';
import type { Notifications } from '../notifications/index.ts';
import type { Repositories } from '../repositories/index.ts';

/** The parts of other modules that the server uses. */
export interface SshDeps {
  accounts: SshAccounts;
  repositories: SshRepositories;
  issues: SshIssues;
  lfs: Pick<Lfs, 'open' | 'tokens'>;
  pulls: SshPulls;
  notifications: SshNotifications;
  git: SshGit;
  sharedKeys: SharedHostKeys;
  nodes: Pick<Nodes, 'present'>;
  workers: WorkerPool;
  config: Pick<Config, 'dataDir' | 'ssh' | 'baseUrl'>;
  logger: Logger;
  clock: Clock;
  random: Random;
}

export type SshAccounts = Pick<Accounts, 'viewerOfKey' | 'peopleById'>;

type SshRepositories = Pick<
  Repositories,
  'openGitForRead' | 'openGitForPush' | 'pushes' | 'create' | 'find' | 'findMoved' | 'findMovedGit' | 'list'
>;

type SshGit = Pick<Git, 'transfers' | 'traffic' | 'refs' | 'objects'>;

type SshNotifications = Pick<Notifications, 'list' | 'find' | 'change' | 'undo'>;

type SshIssues = Pick<
  Issues,
  'list' | 'find' | 'describe' | 'listEntries' | 'open' | 'comment' | 'close' | 'reopen' | 'triage'
>;

type SshPulls = Pick<
  Pulls,
  | 'open'
  | 'find'
  | 'describe'
  | 'edit'
  | 'updateBranch'
  | 'merge'
  | 'mergeWhenReady'
  | 'queue'
  | 'stack'
  | 'mergeBox'
  | 'deleteBranch'
  | 'rounds'
  | 'reviews'
  | 'attention'
>;
