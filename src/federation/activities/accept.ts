import { remoteFollowSchema } from '../schema/remote-follow-schema.ts';
import type { RemoteFollow } from '../schema/remote-follow-schema.ts';
import type { FederationDeps } from '../deps.ts';
import { nothingToPrepare } from './incoming-activity.ts';
import type { ActivityHandler, IncomingActivity } from './incoming-activity.ts';
import { embedded, idOf, typesOf } from '../documents/json-fields.ts';
import type { Tx } from '../../db/index.ts';

/** Only the followed actor can set a follow to ACCEPTED (SPEC §3). */
export const receiveAccept: ActivityHandler<null> = {
  needsId: false,
  prepare: nothingToPrepare,
  async apply(deps, tx, activity) {
    const follow = await followMeant(deps, tx, activity);
    if (follow === null || follow.state === 'ACCEPTED') return;
    await tx.manager.update(
      remoteFollowSchema,
      { id: follow.id, state: 'PENDING' },
      { state: 'ACCEPTED', acceptedAt: tx.now },
    );
  },
};

/**
 * Matches by the Follow's id, otherwise by follower and followed actor; in both cases only follows of the signer match.
 * The fields of an embedded Follow must equal those of the Follow that was sent.
 */
async function followMeant(
  deps: FederationDeps,
  { manager }: Tx,
  { document, signer }: IncomingActivity,
): Promise<RemoteFollow | null> {
  const remoteActorId = signer.id;
  const { type, actor, object } = embedded(document['object']);
  if (type !== undefined && !typesOf(type).includes('Follow')) return null;
  if (object !== undefined && idOf(object) !== signer.id) return null;
  const follower = idOf(actor);
  if (actor !== undefined && follower === null) return null;

  const followId = idOf(document['object']);
  const byId = followId === null ? null : await manager.findOneBy(remoteFollowSchema, { remoteActorId, followId });
  if (byId !== null && follower === null) return byId;
  const { origin } = deps.settings;
  if (follower === null || !follower.startsWith(`${origin}/`)) return null;
  const person = await deps.localActors.atPath(follower.slice(origin.length), manager);
  if (person?.kind !== 'user') return null;
  if (byId !== null) return byId.userId === person.ownerId ? byId : null;
  return object === undefined ? null : manager.findOneBy(remoteFollowSchema, { remoteActorId, userId: person.ownerId });
}
