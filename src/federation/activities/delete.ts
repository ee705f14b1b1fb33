import { idOf } from '../documents/json-fields.ts';
import { endFollower } from '../deliveries/end-follower.ts';
import { nothingToPrepare } from './incoming-activity.ts';
import type { ActivityHandler } from './incoming-activity.ts';

/** An actor deletes itself: all of its follows end. Other Deletes have no effect (SPEC §6). */
export const receiveDelete: ActivityHandler<null> = {
  needsId: false,
  prepare: nothingToPrepare,
  async apply(_deps, tx, { document, signer }) {
    if (idOf(document['object']) === signer.id) await endFollower(tx, { actorId: signer.id });
  },
};
