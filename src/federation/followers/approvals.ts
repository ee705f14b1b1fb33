import type { EntityManager } from 'typeorm';
import type { Tx } from '../../db/index.ts';
import { notFound } from '../../kernel/index.ts';
import { answerContent } from '../documents/follow-answer.ts';
import { publish } from '../deliveries/publish.ts';
import type { FederationDeps } from '../deps.ts';
import { requireFederationOn } from '../require-federation-on.ts';
import { followerSchema } from '../schema/follower-schema.ts';
import { followApprovalSchema, followRequestSchema, ownerFollowerSchema } from '../schema/owner-follower-schema.ts';
import type { SubjectFollower } from '../schema/owner-follower-schema.ts';

/** A local subject that can be followed; ids are UUIDs. The caller checks who may decide for it. */
export interface FollowSubject {
  kind: 'repository' | 'user' | 'organisation';
  id: string;
}

/** Whether new followers of this repository, user or organisation need approval. */
export const approvesFollowers = (manager: EntityManager, subjectId: string): Promise<boolean> =>
  manager.existsBy(followApprovalSchema, { subjectId });

/** Turns approval of new followers on or off. Pending requests stay pending. */
export async function setApproval({ db }: FederationDeps, { id }: FollowSubject, approves: boolean): Promise<void> {
  await db.write(async ({ manager, now }) => {
    await manager.delete(followApprovalSchema, { subjectId: id });
    if (approves) await manager.insert(followApprovalSchema, { subjectId: id, createdAt: now });
  });
}

/** Inside a write: adds a follower or replaces its Follow. */
export async function addFollower(
  { manager, now }: Tx,
  { kind, id }: FollowSubject,
  { actorId, ...follow }: Omit<SubjectFollower, 'subjectId' | 'createdAt'>,
): Promise<void> {
  await manager.delete(followRequestSchema, { subjectId: id, actorId });
  if (kind === 'repository') {
    const key = { repositoryId: id, actorId };
    const known = await manager.update(followerSchema, key, follow);
    if (known.affected === 0) await manager.insert(followerSchema, { ...key, ...follow, createdAt: now });
    return;
  }
  const key = { subjectId: id, actorId };
  const known = await manager.update(ownerFollowerSchema, key, follow);
  if (known.affected === 0) await manager.insert(ownerFollowerSchema, { ...key, ...follow, createdAt: now });
}

/** Accepts a follow request. Throws `no_such_follower`. */
export async function acceptFollower(deps: FederationDeps, subject: FollowSubject, actorId: string): Promise<void> {
  requireFederationOn(deps);
  await deps.db.write(async (tx) => {
    const request = await tx.manager.findOneBy(followRequestSchema, { subjectId: subject.id, actorId });
    if (request === null) throw noSuchFollower();
    const { inbox, host, followId } = request;
    await addFollower(tx, subject, { actorId, inbox, host, followId });
    await answerFollow(deps, tx, subject, { ...request, type: 'Accept' });
  });
}

/** Declines a request or removes a follower, and notifies its server. Throws `no_such_follower`. */
export async function removeFollower(deps: FederationDeps, subject: FollowSubject, actorId: string): Promise<void> {
  await deps.db.write(async (tx) => {
    const { manager } = tx;
    const key = { subjectId: subject.id, actorId };
    const found =
      (await manager.findOneBy(followRequestSchema, key)) ??
      (await manager.findOneBy(ownerFollowerSchema, key)) ??
      (await manager.findOneBy(followerSchema, { repositoryId: subject.id, actorId }));
    if (found === null) throw noSuchFollower();
    await manager.delete(followRequestSchema, key);
    await manager.delete(ownerFollowerSchema, key);
    await manager.delete(followerSchema, { repositoryId: subject.id, actorId });
    await answerFollow(deps, tx, subject, { ...found, type: 'Reject' });
  });
}

interface FollowAnswer {
  type: 'Accept' | 'Reject';
  actorId: string;
  inbox: string;
  followId: string;
}

async function answerFollow(
  deps: FederationDeps,
  tx: Tx,
  { kind, id: ownerId }: FollowSubject,
  { type, actorId, inbox, followId }: FollowAnswer,
): Promise<void> {
  const actor = await deps.localActors.ofOwner(kind, ownerId, tx.manager);
  if (actor === null) throw noSuchFollower();
  const content = answerContent({ id: followId, actor: actorId, object: actor.id });
  const repositoryId = kind === 'repository' ? ownerId : null;
  await publish(deps, tx, { type, actorPath: actor.path, repositoryId, content }, { inbox });
}

const noSuchFollower = () => notFound('no_such_follower', 'There is no such follower.');
