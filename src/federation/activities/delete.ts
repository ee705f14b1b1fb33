import { idOf } from '../documents/json-fields.ts';
import { endFollower } from '../deliveries/end-follower.ts';
import { receivedEventSchema } from '../schema/received-event-schema.ts';
import { nothingToPrepare } from './incoming-activity.ts';
import type { ActivityHandler } from './incoming-activity.ts';

/**
 * An actor deletes itself: all of its follows end. A repository deletes a note about an event: the event leaves the
 * feeds. Other Deletes have no effect (SPEC §6).
 */
export const receiveDelete: ActivityHandler<null> = {
  needsId: false,
  prepare: nothingToPrepare,
  async apply(_deps, tx, { document, signer }) {
    const id = idOf(document['object']);
    if (id === signer.id) await endFollower(tx, { actorId: signer.id });
    else if (id !== null) await tx.manager.delete(receivedEventSchema, { actorId: signer.id, noteId: id });
  },
};
