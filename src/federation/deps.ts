import type { Accounts } from '../accounts/index.ts';
import type { Database } from '../db/index.ts';
import type { Git } from '../git/index.ts';
import type { Clock, Logger, Random } from '../kernel/index.ts';
import type { Outbound } from '../outbound/index.ts';
import type { Organisations } from '../organisations/index.ts';
import type { Owners } from '../owners/index.ts';
import type { Repositories } from '../repositories/index.ts';
import type { KeyFetchBudget } from './key-fetch-budget.ts';
import type { LocalActors } from './local-actors.ts';
import type { RemoteActors } from './signer.ts';
import type { PeerSchemes } from './peer-schemes.ts';
import type { BlockList } from './block-list.ts';
import type { GroupCommit } from './group-commit.ts';
import type { FederationMetrics } from './metrics.ts';
import type { RemoteActor } from './schema/remote-actor-schema.ts';
import type { UnlistedServers } from './unlisted-servers.ts';

/** Dependencies of the use-cases of this module. */
export interface FederationDeps {
  db: Database;
  accounts: Accounts;
  owners: Owners;
  organisations: Organisations;
  repositories: Repositories;
  git: Git;
  outbound: Outbound;
  localActors: LocalActors;
  remoteActors: RemoteActors;
  /** Blocked servers and actors. */
  blocks: BlockList;
  /** Access to unlisted servers; null unless `openFollowers`. */
  unlisted: UnlistedServers | null;
  /** Limits lookups at other servers that clients cause. */
  lookups: KeyFetchBudget;
  /** Signature schemes of deliveries. */
  schemes: PeerSchemes;
  /** Group commit for incoming activities. */
  groupCommit: GroupCommit;
  /** Records that a server has contacted this one. */
  recordContact(host: string): Promise<void>;
  /** Determines the software of a new follower's server. */
  learnSoftware(follower: Pick<RemoteActor, 'id' | 'type' | 'repositoriesUrl'>): Promise<void>;
  metrics: FederationMetrics;
  clock: Clock;
  random: Random;
  logger: Logger;
  settings: FederationSettings;
}

export interface FederationSettings {
  /** Origin of all local actor ids, without a trailing slash; '' while federation is off. */
  origin: string;
  /** Reasons why federation is off, one sentence each; empty while it works. */
  obstacles: readonly string[];
  /** `SERVICE_FEDERATION_PEER_ALLOWLIST`: `host` or `host:port`, lower case. */
  allowlist: readonly string[];
  devAllowInsecure: boolean;
  /** Whether users and organisations can be followed, and all subjects from unlisted servers. */
  openFollowers: boolean;
  /** Limits of followers from unlisted servers: per server and in total. */
  openFollowersPerHost: number;
  openFollowersTotal: number;
  /** Attempts after which deliveries are FAILED. */
  maxAttempts: number;
  userResyncIntervalMs: number;
  /** Limits of concurrent deliveries: in total and per host. */
  slots: number;
  slotsPerHost: number;
  /** Origin of git over SSH: `ssh://git@host:port`; `null` when it is off. */
  sshOrigin: string | null;
}
