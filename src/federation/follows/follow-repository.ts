import type { Tx } from '../../db/index.ts';
import { notFound } from '../../kernel/index.ts';
import { followContent } from '../activities/follow.ts';
import { undoContent } from '../activities/undo.ts';
import { personActor } from '../actors/find-actor.ts';
import type { PersonActor } from '../actors/find-actor.ts';
import { handleOf } from '../schema/remote-actor-schema.ts';
import type { RemoteActor } from '../schema/remote-actor-schema.ts';
import { cancelWaitingDeliveries } from '../deliveries/cancel-deliveries.ts';
import { publish } from '../deliveries/publish.ts';
import type { FederationDeps } from '../deps.ts';
import { remoteFollowSchema } from '../schema/remote-follow-schema.ts';
import type { RemoteFollow } from '../schema/remote-follow-schema.ts';

export const noSuchFollow = () => notFound('unknown_follow', 'There is no such follow.');

/** The actor in whose name a local person follows. Throws `unknown_person` to a person without a handle. */
export async function followerActor(deps: FederationDeps, userId: string): Promise<PersonActor> {
  const found = await personActor(deps, await deps.accounts.personById(userId));
  if (found === null) throw notFound('unknown_person', 'There is no such person.');
  return found;
}

/**
 * Inside a write: adds a PENDING follow and enqueues a Follow. Idempotent, but a direct follow outlives the person it
 * first came with.
 * @param via the followed person whose repository it is; `null` for a direct follow
 * @returns the follow, and whether it is new
 */
export async function addFollow(
  deps: FederationDeps,
  tx: Tx,
  follower: PersonActor,
  target: RemoteActor,
  via: string | null,
): Promise<{ follow: RemoteFollow; isNew: boolean }> {
  const userId = follower.person.id;
  const known = await tx.manager.findOneBy(remoteFollowSchema, { userId, remoteActorId: target.id });
  if (known !== null) {
    if (via === null && known.viaUserActorId !== null) {
      await tx.manager.update(remoteFollowSchema, { id: known.id }, { viaUserActorId: null });
    }
    return { follow: { ...known, viaUserActorId: via === null ? null : known.viaUserActorId }, isNew: false };
  }
  const follow: RemoteFollow = {
    id: deps.random.uuid(),
    userId,
    kind: target.type === 'Repository' ? 'repository' : 'person',
    remoteActorId: target.id,
    remoteInbox: target.inbox,
    host: target.host,
    handle: handleOf(target),
    url: target.url,
    followId: await sendFollow(deps, tx, follower, target.id, target.inbox),
    state: 'PENDING',
    createdAt: tx.now,
    acceptedAt: null,
    viaUserActorId: via,
    goneAt: null,
  };
  await tx.manager.insert(remoteFollowSchema, follow);
  return { follow, isNew: true };
}

/** Inside a write: deletes the row and enqueues an Undo, whether the other server responds or not. */
export async function dropFollow(
  deps: FederationDeps,
  tx: Tx,
  follower: Pick<PersonActor, 'actor'>,
  follow: RemoteFollow,
): Promise<void> {
  await tx.manager.delete(remoteFollowSchema, { id: follow.id });
  const content = undoContent({ id: follow.followId, actor: follower.actor.id, object: follow.remoteActorId });
  await publish(deps, tx, { type: 'Undo', actorPath: follower.actor.path, content }, { inbox: follow.remoteInbox });
}

/**
 * Unfollows a repository, or a person who was followed without any. Throws `unknown_follow` if the follow is not this
 * user's.
 */
export async function unfollow(deps: FederationDeps, userId: string, followId: string): Promise<RemoteFollow> {
  const follower = await followerActor(deps, userId);
  return deps.db.write(async (tx) => {
    const follow = await tx.manager.findOneBy(remoteFollowSchema, { id: followId, userId });
    if (follow === null) throw noSuchFollow();
    await dropFollow(deps, tx, follower, follow);
    return follow;
  });
}

/**
 * Sends a new Follow for one that was never accepted, with an id of its own. The former one is cancelled, so that the
 * other server gets one request. Throws `unknown_follow`; an accepted one stays as it is.
 */
export async function retryFollow(deps: FederationDeps, userId: string, followId: string): Promise<RemoteFollow> {
  const follower = await followerActor(deps, userId);
  return deps.db.write(async (tx) => {
    const follow = await tx.manager.findOneBy(remoteFollowSchema, { id: followId, userId });
    if (follow === null) throw noSuchFollow();
    if (follow.state === 'ACCEPTED') return follow;
    return enqueueFollow(deps, tx, follower, follow);
  });
}

/**
 * Inside a write: sends a follow again whatever its state, because the follower's id has changed. The follow of a
 * person without an actor, unknown to all servers, stays as it is.
 */
export async function followAgain(deps: FederationDeps, tx: Tx, follow: RemoteFollow): Promise<void> {
  const actor = await deps.localActors.ofOwner('user', follow.userId, tx.manager);
  if (actor !== null) await enqueueFollow(deps, tx, { actor }, follow);
}

async function enqueueFollow(
  deps: FederationDeps,
  tx: Tx,
  follower: Pick<PersonActor, 'actor'>,
  follow: RemoteFollow,
): Promise<RemoteFollow> {
  await cancelWaitingDeliveries(tx, 'a newer request took its place', activityUuid(follow.followId));
  const followId = await sendFollow(deps, tx, follower, follow.remoteActorId, follow.remoteInbox);
  await tx.manager.update(remoteFollowSchema, { id: follow.id }, { followId, state: 'PENDING', acceptedAt: null });
  return { ...follow, followId, state: 'PENDING', acceptedAt: null };
}

/** The UUID at the end of a local activity's id, which is its outbox key. */
export const activityUuid = (activityId: string): string => activityId.split('/').at(-1)!;

function sendFollow(
  deps: FederationDeps,
  tx: Tx,
  follower: Pick<PersonActor, 'actor'>,
  target: string,
  inbox: string,
): Promise<string> {
  return publish(
    deps,
    tx,
    { type: 'Follow', actorPath: follower.actor.path, content: followContent(target, tx.now) },
    { inbox },
  );
}
