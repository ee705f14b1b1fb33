import type { Outbound } from '../../outbound/index.ts';
import type { RemoteActors } from '../actors/signer.ts';

/** What reaches servers off the list while `federation.open_followers` is on; for followers alone. */
export interface UnlistedServers {
  /** The signers of their requests, within budgets of their own. */
  remoteActors: RemoteActors;
  /** For deliveries to followers, and the fetches of `remoteActors`. */
  outbound: Outbound;
  /** Followers from such servers in all; at most ten seconds old. */
  countFollowers(): Promise<number>;
  close(): void;
}
