import { followerTables } from '../deliveries/end-follower.ts';
import { followerSchema } from '../schema/follower-schema.ts';
import { followRequestSchema, ownerFollowerSchema } from '../schema/owner-follower-schema.ts';
import { nothingToPrepare } from './incoming-activity.ts';
import type { ActivityHandler } from './incoming-activity.ts';
import { activityStreams } from '../documents/contexts.ts';
import { embedded, idOf, typesOf } from '../documents/json-fields.ts';
import type { Json } from '../documents/json-fields.ts';
import { parseActorPath } from '../actors/actor-paths.ts';

/** An Undo of a Follow that was sent; it repeats the Follow with its id. */
export function undoContent(follow: { id: string; actor: string; object: string }): Json {
  const { id, actor, object } = follow;
  return { '@context': activityStreams, to: [object], object: { id, type: 'Follow', actor, object } };
}

/**
 * A follower unfollows. Removes only the signer's own row, found by the id of its Follow or, for older software that
 * sends no id, by the followed actor.
 */
export const receiveUndo: ActivityHandler<null> = {
  needsId: false,
  prepare: nothingToPrepare,
  async apply(deps, tx, { document, signer }) {
    const undone = embedded(document['object']);
    const actor = idOf(undone['actor']);
    const types = typesOf(undone['type']);
    if (actor !== null && actor !== signer.id) return;
    if (types.length > 0 && !types.includes('Follow')) return;

    const followId = idOf(document['object']);
    if (followId !== null) {
      const where = { actorId: signer.id, followId };
      let gone = 0;
      for (const table of followerTables) gone += (await tx.manager.delete(table, where)).affected ?? 0;
      if (gone !== 0) return;
    }
    const { origin } = deps.settings;
    const target = idOf(undone['object']);
    if (!types.includes('Follow') || target === null || !target.startsWith(`${origin}/`)) return;
    const path = target.slice(origin.length);
    const local = parseActorPath(path) === null ? null : await deps.localActors.atPath(path, tx.manager);
    if (local == null) return;
    const key = { actorId: signer.id, subjectId: local.ownerId };
    await tx.manager.delete(followRequestSchema, key);
    await tx.manager.delete(ownerFollowerSchema, key);
    await tx.manager.delete(followerSchema, { actorId: signer.id, repositoryId: local.ownerId });
  },
};
