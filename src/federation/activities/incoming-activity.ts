import type { Tx } from '../../db/index.ts';
import type { RemoteActor } from '../schema/remote-actor-schema.ts';
import type { FederationDeps } from '../deps.ts';
import type { Json } from '../documents/json-fields.ts';

/** An activity whose signature has been verified: its actor is the signer. */
export interface IncomingActivity {
  /** Unique for its actor; '' in one that may come without (see `ActivityHandler.needsId`). */
  id: string;
  document: Json;
  signer: RemoteActor;
  /** Whether its server is not on the list: it may follow, and nothing else. */
  isUnlisted: boolean;
}

/**
 * Handler of one type of activity. `prepare` may look things up and create keys; `apply` runs in the write that also
 * records the activity for deduplication, so both happen or neither, and it checks again what may have changed
 * meanwhile.
 */
export interface ActivityHandler<Prepared> {
  /** Whether an activity without an id is refused: an answer repeats the id, or a second copy would have an effect. */
  needsId: boolean;
  prepare(deps: FederationDeps, activity: IncomingActivity): Promise<Prepared>;
  apply(deps: FederationDeps, tx: Tx, activity: IncomingActivity, prepared: Prepared): Promise<void>;
}

export const nothingToPrepare = async (): Promise<null> => null;
