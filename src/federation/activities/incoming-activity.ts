import type { Tx } from '../../db/index.ts';
import type { RemoteActor } from '../schema/remote-actor-schema.ts';
import type { FederationDeps } from '../deps.ts';
import type { Json } from '../documents/json-fields.ts';

/** An activity whose signature has been verified: its actor is the signer. */
export interface IncomingActivity {
  /** Unique per actor; '' if the activity may omit it (see `ActivityHandler.needsId`). */
  id: string;
  document: Json;
  signer: RemoteActor;
  /** Whether its server is unlisted: such a server may only follow and unfollow. */
  isUnlisted: boolean;
}

/**
 * Handler of one type of activity. `prepare` may look up data and create keys; `apply` runs in the write that also
 * records the activity for deduplication, so both happen or neither, and it rechecks whatever may have changed since
 * `prepare`.
 */
export interface ActivityHandler<Prepared> {
  /**
   * Whether an activity without an id is refused, because the response repeats the id or a second copy would have an
   * effect.
   */
  needsId: boolean;
  /** Whether an activity of the type is handled; all of them by default. Others are recorded and ignored. */
  accepts?(activity: IncomingActivity): boolean;
  prepare(deps: FederationDeps, activity: IncomingActivity): Promise<Prepared>;
  apply(deps: FederationDeps, tx: Tx, activity: IncomingActivity, prepared: Prepared): Promise<void>;
}

export const nothingToPrepare = async (): Promise<null> => null;
