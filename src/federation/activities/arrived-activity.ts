import type { Tx } from '../../db/index.ts';
import type { RemoteActor } from '../actors/remote-actor-schema.ts';
import type { FederationRoom } from '../room.ts';
import type { Json } from './fields.ts';

/** An activity whose signature has been verified: its actor is the signer. */
export interface ArrivedActivity {
  id: string;
  document: Json;
  signer: RemoteActor;
}

/**
 * What an activity of one type does here. `prepare` may look things up and make
 * keys; `apply` runs in the write that also notes the activity as seen, so both
 * happen or neither, and it judges again whatever may have changed meanwhile.
 */
export interface ActivityHandler<Prepared> {
  prepare(room: FederationRoom, activity: ArrivedActivity): Promise<Prepared>;
  apply(room: FederationRoom, tx: Tx, activity: ArrivedActivity, prepared: Prepared): Promise<void>;
}

export const nothingToPrepare = async (): Promise<null> => null;
