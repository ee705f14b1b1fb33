import { findActorById, findActorNamed } from '../actors/find-actor.ts';
import type { FoundActor } from '../actors/find-actor.ts';
import { publish } from '../deliveries/publish.ts';
import type { NewActivity } from '../deliveries/publish.ts';
import type { FederationDeps } from '../deps.ts';
import { followerSchema } from '../schema/follower-schema.ts';
import { answerContent } from './accept.ts';
import type { ActivityHandler, IncomingActivity } from './incoming-activity.ts';
import { activityStreams } from '../documents/contexts.ts';
import { idOf } from '../documents/json-fields.ts';
import type { Json } from '../documents/json-fields.ts';
import { isoTime } from '../documents/escape-html.ts';
import type { Tx } from '../../db/index.ts';

/** A Follow of a remote actor; `publish` adds its id and who follows. */
export function followContent(target: string, at: number): Json {
  return { '@context': activityStreams, object: target, to: [target], published: isoTime(at) };
}

/** What a Follow names: a local actor by its id, or one that is meant by another of its addresses. */
interface Target {
  /** As the Follow writes it: an answer repeats it. */
  object: string;
  found: FoundActor;
  isId: boolean;
}

/**
 * A remote actor follows a local public repository: stored, and an Accept queued (SPEC §3). A new Follow of a follower
 * replaces the old one and is accepted again. Whatever else is public here answers with a Reject, so that nobody waits
 * for ever; private and absent targets are recorded and ignored alike.
 */
export const receiveFollow: ActivityHandler<Target | null> = {
  needsId: true,
  async prepare(deps, { document, signer }) {
    const object = idOf(document['object']);
    if (object === null) return null;
    const exact = await findActorById(deps, object);
    if (exact?.kind === 'repository') await deps.learnSoftware(signer.id);
    const found = exact ?? (await findActorNamed(deps, object));
    return found === null ? null : { object, found, isId: exact !== null };
  },
  async apply(deps, tx, activity, target) {
    if (target === null) return;
    const { found, isId } = target;
    if (found.kind !== 'repository') return answer(deps, tx, 'Reject', activity, target);
    if (!(await deps.repositories.isPublic(tx.manager, found.actor.ownerId))) return;
    if (!isId) return answer(deps, tx, 'Reject', activity, target);
    const { id, signer } = activity;
    const key = { repositoryId: found.actor.ownerId, actorId: signer.id };
    const force = { inbox: signer.inbox, host: new URL(signer.inbox).host, followId: id };
    const known = await tx.manager.update(followerSchema, key, force);
    if (known.affected === 0) await tx.manager.insert(followerSchema, { ...key, ...force, createdAt: tx.now });
    await answer(deps, tx, 'Accept', activity, target);
  },
};

async function answer(
  deps: FederationDeps,
  tx: Tx,
  type: Extract<NewActivity['type'], 'Accept' | 'Reject'>,
  { id, signer }: IncomingActivity,
  { object, found: { kind, actor } }: Target,
): Promise<void> {
  const content = answerContent({ id, actor: signer.id, object });
  const repositoryId = kind === 'repository' ? actor.ownerId : null;
  await publish(deps, tx, { type, actorPath: actor.path, repositoryId, content }, { inbox: signer.inbox });
}
