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
  /** No further follower of its server is taken. */
  isOverBudget: boolean;
}

/** Limit of requests that wait for the approval of one repository, user or organisation. */
const mostRequests = 1_000;

/**
 * A remote actor follows a local public repository: stored, and an Accept queued (SPEC §3). A new Follow of a follower
 * replaces the old one and is accepted again. While followers from everywhere are taken, users and organisations can be
 * followed as well. Where each follower is approved, the Follow waits without an answer. Whatever else is public here
 * answers with a Reject, so that nobody waits for ever; private and absent targets are recorded and ignored alike.
 */
export const receiveFollow: ActivityHandler<Target | null> = {
  needsId: true,
  async prepare(deps, { document, signer, isUnlisted }) {
    const object = idOf(document['object']);
    if (object === null) return null;
    const exact = await findActorById(deps, object);
    // Hearth fetches nothing of an unlisted server but the signer.
    if (exact?.kind === 'repository' && !isUnlisted) await deps.learnSoftware(signer);
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

/** `null` for what cannot be followed. */
function subjectOf({ settings }: FederationDeps, found: FoundActor): FollowSubject | null {
  const { kind, actor } = found;
  if (kind === 'instance' || (kind !== 'repository' && !settings.openFollowers)) return null;
  return { kind, id: actor.ownerId };
}

const isFollower = (manager: EntityManager, { kind, id }: FollowSubject, actorId: string): Promise<boolean> =>
  kind === 'repository'
    ? manager.existsBy(followerSchema, { repositoryId: id, actorId })
    : manager.existsBy(ownerFollowerSchema, { subjectId: id, actorId });

/** Whether the server of an unlisted follower, or all such together, have as many followers here as they may. */
async function isOverBudget(deps: FederationDeps, { inbox }: RemoteActor): Promise<boolean> {
  const { openFollowersPerHost, openFollowersTotal } = deps.settings;
  const { host } = new URL(inbox);
  const counts = await Promise.all(followerTables.map((table) => deps.db.read.countBy(table, { host })));
  if (counts.reduce((sum, count) => sum + count, 0) >= openFollowersPerHost) return true;
  return ((await deps.unlisted?.countFollowers()) ?? 0) >= openFollowersTotal;
}

/**
 * A server with followers is among those that are known, so that a block finds all of its names. What followers on a
 * server off the list read is known by the document of the one who follows: people of forges name their repositories. A
 * server that was asked for its software keeps what it said.
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
