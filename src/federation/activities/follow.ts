import { findActorById } from '../actors/find-actor.ts';
import type { LocalActor } from '../actors/local-actors.ts';
import { publish } from '../deliveries/publish.ts';
import { followerSchema } from '../schema/follower-schema.ts';
import { acceptContent } from './accept.ts';
import type { ActivityHandler } from './incoming-activity.ts';
import { activityStreams } from '../documents/contexts.ts';
import { idOf } from '../documents/json-fields.ts';
import type { Json } from '../documents/json-fields.ts';
import { isoTime } from '../documents/escape-html.ts';

/** A Follow of a remote actor; `publish` adds its id and who follows. */
export function followContent(target: string, at: number): Json {
  return { '@context': activityStreams, object: target, to: [target], published: isoTime(at) };
}

/**
 * A remote actor follows a local public repository: stored, and an Accept queued (SPEC §3). A new Follow of a follower
 * replaces the old one and is accepted again. Following anything else is recorded and ignored.
 */
export const receiveFollow: ActivityHandler<LocalActor | null> = {
  async prepare(deps, { document }) {
    const target = idOf(document['object']);
    const found = target === null ? null : await findActorById(deps, target);
    return found?.kind === 'repository' ? found.actor : null;
  },
  async apply(deps, tx, { id, signer }, actor) {
    if (actor === null || !(await deps.repositories.isPublic(tx.manager, actor.ownerId))) return;
    const key = { repositoryId: actor.ownerId, actorId: signer.id };
    const force = { inbox: signer.inbox, host: new URL(signer.inbox).host, followId: id };
    const known = await tx.manager.update(followerSchema, key, force);
    if (known.affected === 0) await tx.manager.insert(followerSchema, { ...key, ...force, createdAt: tx.now });
    const content = acceptContent({ id, actor: signer.id, object: actor.id });
    await publish(
      deps,
      tx,
      { type: 'Accept', actorPath: actor.path, repositoryId: actor.ownerId, content },
      { inbox: signer.inbox },
    );
  },
};
