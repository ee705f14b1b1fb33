import type { Accounts } from '../accounts/index.ts';
import type { Database } from '../db/index.ts';
import type { Git } from '../git/index.ts';
import type { Issues } from '../issues/index.ts';
import type { Leases } from '../nodes/index.ts';
import type { Clock, Logger, Random } from '../kernel/index.ts';
import type { Organisations } from '../organisations/index.ts';
import type { Owners } from '../owners/index.ts';
import type { Repositories } from '../repositories/index.ts';
import type { MergeStateQueue } from './merge-state-queue.ts';
import type { QueueRunner } from './queue-runner.ts';
import type { MatchedOwnersCache } from './code-owners-file/match-owners.ts';

/** Dependencies of the use-cases of this module. */
export interface PullDeps {
  db: Database;
  accounts: Pick<Accounts, 'personByUsername' | 'peopleById' | 'addresses'>;
  organisations: Organisations;
  owners: Pick<Owners, 'resolve' | 'resolveAll'>;
  repositories: Repositories;
  issues: Issues;
  git: Git;
  /** Leases that let only one node at a time advance the queue of a branch. */
  leases: Leases;
  clock: Clock;
  random: Random;
  logger: Logger;
  /** Signs commits created by the server; without it they are unsigned. */
  signCommit?: ((payload: Buffer) => Promise<string>) | undefined;
  /** The public URL of this server without a trailing slash; null while it is unknown. */
  baseUrl: string | null;
  /** Size limit in bytes of the pack of a push by a user without write access; defaults to that of the server. */
  contributedPushBytes?: number | undefined;
  /** Limit in bytes of all rounds of one user in a repository without write access; unlimited by default. */
  contributedBytes?: number | undefined;
  /** Whether too little disk space is left for writing to a folder. */
  isDiskLow(folder: string): Promise<boolean>;
  matchedOwners: MatchedOwnersCache;
  /** Advances merge queues in the background. */
  queue: QueueRunner;
  /** Time limit in milliseconds for testing one pull request in a merge queue; two hours by default. */
  queueTimeoutMs?: number | undefined;
  /** Computes merge states in the background. */
  mergeStates: MergeStateQueue;
  /** Whether an import still follows the repository at another forge. */
  isFollowing(repositoryId: string): Promise<boolean>;
}
