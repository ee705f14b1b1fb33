import type { Accounts } from '../accounts/index.ts';
import type { Database } from '../db/index.ts';
import type { Git } from '../git/index.ts';
import type { Issues } from '../issues/index.ts';
import type { Leases } from '../nodes/index.ts';
import type { Clock, Logger, Random } from '../kernel/index.ts';
import type { Organisations } from '../organisations/index.ts';
import type { Owners } from '../owners/index.ts';
import type { Repositories } from '../repositories/index.ts';
import type { MergeStateQueue } from './mergeability/merge-state-queue.ts';
import type { QueueRunner } from './queue/queue-runner.ts';
import type { MatchedOwnersCache } from './code-owners/match-owners.ts';

/** What the use-cases of this module work with. */
export interface PullDeps {
  db: Database;
  accounts: Pick<Accounts, 'personByUsername' | 'peopleById' | 'addresses'>;
  organisations: Organisations;
  owners: Pick<Owners, 'resolve' | 'resolveAll'>;
  repositories: Repositories;
  issues: Issues;
  git: Git;
  /** One node at a time advances the queue of a branch. */
  leases: Leases;
  clock: Clock;
  random: Random;
  logger: Logger;
  /** Signs commits that the server makes; without it, they are not signed. */
  signCommit?: ((payload: Buffer) => Promise<string>) | undefined;
  /** The public address of this server, without a slash at its end; null while it is unknown. */
  baseUrl: string | null;
  /** Size limit of the pack of a push by a person who may not write, in bytes; that of the server when left out. */
  contributedPushBytes?: number | undefined;
  /** Limit of what the rounds of one person take in a repository where they may not write, in bytes; left out, none. */
  contributedBytes?: number | undefined;
  /** Whether the disk of a folder has too little space left for writing. */
  isDiskLow(folder: string): Promise<boolean>;
  matchedOwners: MatchedOwnersCache;
  /** Advances merge queues in the background. */
  queue: QueueRunner;
  /** How long the test of one pull request in a merge queue may take; two hours when left out. */
  queueTimeoutMs?: number | undefined;
  /** Computes merge states in the background. */
  mergeStates: MergeStateQueue;
}
