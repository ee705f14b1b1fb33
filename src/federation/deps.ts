import type { Accounts } from '../accounts/index.ts';
import type { Database } from '../db/index.ts';
import type { Git } from '../git/index.ts';
import type { Clock, Logger, Random } from '../kernel/index.ts';
import type { Outbound } from '../outbound/index.ts';
import type { Owners } from '../owners/index.ts';
import type { Repositories } from '../repositories/index.ts';
import type { LocalActors } from './actors/local-actors.ts';
import type { RemoteActors } from './actors/signer.ts';
import type { GroupCommit } from './inbox/group-commit.ts';
import type { FederationMetrics } from './metrics.ts';

/** What the use-cases of this room work with. */
export interface FederationDeps {
  db: Database;
  accounts: Accounts;
  owners: Owners;
  repositories: Repositories;
  git: Git;
  outbound: Outbound;
  localActors: LocalActors;
  remoteActors: RemoteActors;
  /** For what comes in, many at a time. */
  groupCommit: GroupCommit;
  /** A server has spoken to us. */
  recordContact(host: string): Promise<void>;
  metrics: FederationMetrics;
  clock: Clock;
  random: Random;
  logger: Logger;
  settings: FederationSettings;
}

export interface FederationSettings {
  /** Origin that all our actor ids begin with, without a slash at its end; '' while federation is off. */
  origin: string;
  /** Why federation is off, a sentence each; none while it works. */
  obstacles: readonly string[];
  /** `SERVICE_FEDERATION_PEER_ALLOWLIST`: `host` or `host:port`, lower case. */
  allowlist: readonly string[];
  devAllowInsecure: boolean;
  /** Deliveries are FAILED after so many attempts. */
  maxAttempts: number;
  userResyncIntervalMs: number;
  /** Deliveries under way at once, in all and to one host. */
  slots: number;
  slotsPerHost: number;
  /** How repositories are reached over SSH: `ssh://git@host:port`; `null` when they are not. */
  sshOrigin: string | null;
}
