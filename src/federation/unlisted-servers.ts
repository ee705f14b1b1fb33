import type { Outbound } from '../outbound/index.ts';
import type { RemoteActors } from './signer.ts';

/** Access to unlisted servers while `federation.open_followers` is on; for followers only. */
export interface UnlistedServers {
  /** The signers of their requests, with separate budgets. */
  remoteActors: RemoteActors;
  /** For deliveries to followers, and the fetches of `remoteActors`. */
  outbound: Outbound;
  /** Total number of followers from such servers; at most ten seconds old. */
  countFollowers(): Promise<number>;
  close(): void;
}
