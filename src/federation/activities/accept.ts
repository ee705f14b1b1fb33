import { remoteFollowSchema } from '../follows/remote-follow-schema.ts';
import type { RemoteFollow } from '../follows/remote-follow-schema.ts';
import type { FederationRoom } from '../room.ts';
import { nothingToPrepare } from './arrived-activity.ts';
import type { ActivityHandler, ArrivedActivity } from './arrived-activity.ts';
import { activityStreams } from './contexts.ts';
import { embedded, idOf } from './fields.ts';
import type { Json } from './fields.ts';
import type { Tx } from '../../db/index.ts';

/** An Accept of a Follow, with the four fields that other software matches by, and no more. */
export function acceptContent(follow: { id: string; actor: string; object: string }): Json {
  const { id, actor, object } = follow;
  return { '@context': activityStreams, to: [actor], object: { id, type: 'Follow', actor, object } };
}

/** The followed actor, and nobody else, can make a follow ACCEPTED (SPEC §3). */
export const receiveAccept: ActivityHandler<null> = {
  prepare: nothingToPrepare,
  async apply(room, tx, activity) {
    const follow = await followMeant(room, tx, activity);
    if (follow === null || follow.state === 'ACCEPTED') return;
    await tx.manager.update(remoteFollowSchema, { id: follow.id, state: 'PENDING' }, { state: 'ACCEPTED', acceptedAt: tx.now });
  },
};

/** By the Follow's id, else by who followed whom; in both cases only follows of the signer come into question. */
async function followMeant(room: FederationRoom, { manager }: Tx, { document, signer }: ArrivedActivity): Promise<RemoteFollow | null> {
  const remoteActorId = signer.id;
  const followId = idOf(document['object']);
  const byId = followId === null ? null : await manager.findOneBy(remoteFollowSchema, { remoteActorId, followId });
  if (byId !== null) return byId;
  const { actor, object } = embedded(document['object']);
  const follower = idOf(actor);
  const { origin } = room.settings;
  if (follower === null || idOf(object) !== signer.id || !follower.startsWith(`${origin}/`)) return null;
  const person = await room.localActors.atPath(follower.slice(origin.length), manager);
  return person?.kind === 'user' ? manager.findOneBy(remoteFollowSchema, { remoteActorId, userId: person.ownerId }) : null;
}
