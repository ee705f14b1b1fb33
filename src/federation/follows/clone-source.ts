import { conflict } from '../../kernel/index.ts';
import type { FederationDeps } from '../deps.ts';
import { requireFederationOn } from '../require-federation-on.ts';
import { handleOf } from '../schema/remote-actor-schema.ts';
import { remoteFollowSchema } from '../schema/remote-follow-schema.ts';
import { noSuchFollow } from './follow-repository.ts';
import { explaining } from './resolve-target.ts';

/** A followed repository that can be cloned. */
interface CloneSource {
  actorId: string;
  /** `owner/name@host`. */
  handle: string;
  host: string;
  /** Its page. */
  url: string | null;
  cloneUrl: string;
}

/**
 * Returns the clone address of what a user follows, asked anew from the other server. Throws `federation_off`,
 * `unknown_follow`; `follow_pending` until the other server has accepted; `not_clonable` if it is not a repository, or
 * its software names no address; `unresolvable_handle` if it is gone.
 */
export async function cloneSource(deps: FederationDeps, userId: string, followId: string): Promise<CloneSource> {
  requireFederationOn(deps);
  const follow = await deps.db.read.findOneBy(remoteFollowSchema, { id: followId, userId });
  if (follow === null) throw noSuchFollow();
  if (follow.kind !== 'repository') throw conflict('not_clonable', 'The followed actor is not a repository.');
  if (follow.state !== 'ACCEPTED')
    throw conflict(
      'follow_pending',
      'The remote server has not accepted the follow request yet, so it does not announce pushes.',
    );
  const actor = await explaining(follow.host, () => deps.remoteActors.actor(follow.remoteActorId, { fresh: true }));
  if (actor.cloneUrl === null)
    throw conflict('not_clonable', `${actor.host} does not provide a clone URL for this repository.`);
  const { id: actorId, host, url, cloneUrl } = actor;
  return { actorId, handle: handleOf(actor), host, url, cloneUrl };
}
