import type { EntityManager } from 'typeorm';
import { findActorById, findActorNamed } from '../actors/find-actor.ts';
import type { FoundActor } from '../actors/find-actor.ts';
import { publish } from '../deliveries/publish.ts';
import type { NewActivity } from '../deliveries/publish.ts';
import type { FederationDeps } from '../deps.ts';
import { followerTables } from '../deliveries/end-follower.ts';
import { addFollower, approvesFollowers } from '../followers/approvals.ts';
import type { FollowSubject } from '../followers/approvals.ts';
import { followerSchema } from '../schema/follower-schema.ts';
import { followRequestSchema, ownerFollowerSchema } from '../schema/owner-follower-schema.ts';
import type { RemoteActor } from '../schema/remote-actor-schema.ts';
import { answerContent } from '../documents/follow-answer.ts';
import type { ActivityHandler, IncomingActivity } from './incoming-activity.ts';
import { activityStreams } from '../documents/contexts.ts';
import { idOf } from '../documents/json-fields.ts';
import type { Json } from '../documents/json-fields.ts';
import { isoTime } from '../documents/escape-html.ts';
import type { Tx } from '../../db/index.ts';

/** A Follow of a remote actor; `publish` adds its id and its actor. */
export function followContent(target: string, at: number): Json {
  return { '@context': activityStreams, object: target, to: [target], published: isoTime(at) };
}

/** The subject of a Follow: a local actor by its id or by one of its other URLs. */
interface Target {
  /** As written in the Follow: the response repeats it. */
  object: string;
  found: FoundActor;
  isId: boolean;
  /** The server of the follower has reached its limit of followers. */
  isOverBudget: boolean;
}

/** Limit of pending follow requests per repository, user or organisation. */
const mostRequests = 1_000;

/**
 * A remote actor follows a local public repository: stores the follow and queues an Accept (SPEC §3). A new Follow by
 * the same follower replaces the old one and is accepted again. With `federation.open_followers`, users and
 * organisations can also be followed. If each follower needs approval, the Follow waits without a response. A Follow of
 * any other public subject gets a Reject, so that no sender waits forever; Follows of private and absent subjects are
 * recorded and ignored alike.
 */
export const receiveFollow: ActivityHandler<Target | null> = {
  needsId: true,
  async prepare(deps, { document, signer, isUnlisted }) {
    const object = idOf(document['object']);
    if (object === null) return null;
    const exact = await findActorById(deps, object);
    // The only document that Hearth fetches from an unlisted server is the signer.
    if (exact !== null && subjectOf(deps, exact) !== null && !isUnlisted) await deps.learnSoftware(signer);
    const found = exact ?? (await findActorNamed(deps, object));
    if (found === null) return null;
    return { object, found, isId: exact !== null, isOverBudget: isUnlisted && (await isOverBudget(deps, signer)) };
  },
  async apply(deps, tx, activity, target) {
    if (target === null) return;
    const { found, isId, isOverBudget } = target;
    const subject = subjectOf(deps, found);
    if (subject === null) return answer(deps, tx, 'Reject', activity, target);
    if (subject.kind === 'repository' && !(await deps.repositories.isPublic(tx.manager, subject.id))) return;
    if (!isId) return answer(deps, tx, 'Reject', activity, target);
    const { id, signer } = activity;
    const { manager } = tx;
    const follow = { actorId: signer.id, inbox: signer.inbox, host: new URL(signer.inbox).host, followId: id };
    const isKnown = await isFollower(manager, subject, signer.id);
    if (!isKnown && isOverBudget) return answer(deps, tx, 'Reject', activity, target);
    await recordPeer(tx, activity, follow.host);
    if (isKnown || !(await approvesFollowers(manager, subject.id))) {
      await addFollower(tx, subject, follow);
      return answer(deps, tx, 'Accept', activity, target);
    }
    const waiting = await manager.countBy(followRequestSchema, { subjectId: subject.id });
    const key = { subjectId: subject.id, actorId: signer.id };
    if (waiting >= mostRequests && !(await manager.existsBy(followRequestSchema, key)))
      return answer(deps, tx, 'Reject', activity, target);
    await manager.delete(followRequestSchema, key);
    await manager.insert(followRequestSchema, { ...key, ...follow, createdAt: tx.now });
  },
};

/** `null` if the subject cannot be followed. */
function subjectOf({ settings }: FederationDeps, found: FoundActor): FollowSubject | null {
  const { kind, actor } = found;
  if (kind === 'instance' || (kind !== 'repository' && !settings.openFollowers)) return null;
  return { kind, id: actor.ownerId };
}

const isFollower = (manager: EntityManager, { kind, id }: FollowSubject, actorId: string): Promise<boolean> =>
  kind === 'repository'
    ? manager.existsBy(followerSchema, { repositoryId: id, actorId })
    : manager.existsBy(ownerFollowerSchema, { subjectId: id, actorId });

/**
 * Whether the follower's unlisted server, or all unlisted servers together, have reached their limit of followers here.
 */
async function isOverBudget(deps: FederationDeps, { inbox }: RemoteActor): Promise<boolean> {
  const { openFollowersPerHost, openFollowersTotal } = deps.settings;
  const { host } = new URL(inbox);
  const counts = await Promise.all(followerTables.map((table) => deps.db.read.countBy(table, { host })));
  if (counts.reduce((sum, count) => sum + count, 0) >= openFollowersPerHost) return true;
  return ((await deps.unlisted?.countFollowers()) ?? 0) >= openFollowersTotal;
}

/**
 * Records the server of a follower, so that a block finds all of its names. For an unlisted server, the follower's
 * document decides what its followers read: actors of forges name their repositories. A server whose software is
 * already known keeps its entry.
 */
async function recordPeer(
  { manager, now }: Tx,
  { signer, isUnlisted }: Pick<IncomingActivity, 'signer' | 'isUnlisted'>,
  host: string,
): Promise<void> {
  if (!isUnlisted) {
    await manager.query('INSERT INTO federation_peers (host) VALUES (?) ON CONFLICT (host) DO NOTHING', [host]);
    return;
  }
  await manager.query(
    `INSERT INTO federation_peers (host, open_at, reads) VALUES (?, ?, ?)
     ON CONFLICT (host) DO UPDATE SET open_at = coalesce(federation_peers.open_at, excluded.open_at),
       reads = CASE WHEN federation_peers.software_at IS NULL THEN excluded.reads ELSE federation_peers.reads END`,
    [host, now, signer.repositoriesUrl === null ? 'note' : null],
  );
}

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
