import { isDomainError } from '../../kernel/index.ts';
import type { PersonActor } from '../actors/find-actor.ts';
import { handleOf } from '../schema/remote-actor-schema.ts';
import type { RemoteActor } from '../schema/remote-actor-schema.ts';
import type { FederationDeps } from '../deps.ts';
import { addFollow, dropFollow, followerActor, noSuchFollow } from './follow-repository.ts';
import { fetchRepositories } from './remote-repositories.ts';
import type { RemoteRepositoryList } from './remote-repositories.ts';
import { remoteFollowSchema } from '../schema/remote-follow-schema.ts';
import { remotePersonFollowSchema, seenRepositorySchema } from '../schema/remote-person-follow-schema.ts';
import type { RemotePersonFollow } from '../schema/remote-person-follow-schema.ts';

/** When an unfinished scan continues, in milliseconds. */
const earlyResyncMs = 10_000;

/**
 * Follows a remote person, which means each of their public repositories (SPEC §3): those on the first page now, later
 * ones when a scan finds them. Idempotent.
 * @param list their repositories, as read just now
 */
export async function followPerson(
  deps: FederationDeps,
  follower: PersonActor,
  target: RemoteActor,
  list: RemoteRepositoryList,
): Promise<{ follow: RemotePersonFollow; isNew: boolean }> {
  const userId = follower.person.id;
  const known = await deps.db.read.findOneBy(remotePersonFollowSchema, { userId, remoteActorId: target.id });
  if (known !== null) return { follow: known, isNew: false };
  const follow = await deps.db.write(async ({ manager, now }) => {
    const row: RemotePersonFollow = {
      id: deps.random.uuid(),
      userId,
      remoteActorId: target.id,
      host: target.host,
      handle: handleOf(target),
      url: target.url,
      totalItems: list.totalItems,
      createdAt: now,
      nextScanAt: now + deps.settings.userResyncIntervalMs,
      scanError: null,
    };
    // Of concurrent calls, the first one counts.
    const other = await manager.findOneBy(remotePersonFollowSchema, { userId, remoteActorId: target.id });
    if (other === null) await manager.insert(remotePersonFollowSchema, row);
    return other ?? row;
  });
  await followListed(deps, follower, follow, list);
  return { follow, isNew: true };
}

/** @returns the handles of repositories that are newly followed */
async function followListed(
  deps: FederationDeps,
  follower: PersonActor,
  follow: RemotePersonFollow,
  list: RemoteRepositoryList,
): Promise<string[]> {
  const rows = await deps.db.read.findBy(seenRepositorySchema, { userFollowId: follow.id });
  const seen = new Set(rows.map(({ remoteActorId }) => remoteActorId));
  const unseen = list.ids.filter((id) => !seen.has(id));
  const { found, isCutShort } = await fetchRepositories(deps, unseen);
  const { userResyncIntervalMs } = deps.settings;
  return deps.db.write(async (tx) => {
    const { manager, now } = tx;
    const wait = isCutShort ? Math.min(earlyResyncMs, userResyncIntervalMs) : userResyncIntervalMs;
    const still = await manager.update(
      remotePersonFollowSchema,
      { id: follow.id },
      {
        totalItems: list.totalItems,
        nextScanAt: now + wait,
        scanError: null,
      },
    );
    // Unfollowed during the request to their server.
    if (still.affected === 0) return [];
    const added: string[] = [];
    for (const target of found) {
      await manager.query(
        'INSERT INTO remote_user_repositories (user_follow_id, remote_actor_id) VALUES (?, ?) ON CONFLICT DO NOTHING',
        [follow.id, target.id],
      );
      const { isNew } = await addFollow(deps, tx, follower, target, follow.remoteActorId);
      if (isNew) added.push(handleOf(target));
    }
    return added;
  });
}

/**
 * Unfollows a person: every follow that came with them is undone, directly followed repositories stay. Throws
 * `unknown_follow`.
 */
export async function unfollowPerson(
  deps: FederationDeps,
  userId: string,
  followId: string,
): Promise<RemotePersonFollow> {
  const follower = await followerActor(deps, userId);
  return deps.db.write(async (tx) => {
    const follow = await tx.manager.findOneBy(remotePersonFollowSchema, { id: followId, userId });
    if (follow === null) throw noSuchFollow();
    const tagged = await tx.manager.findBy(remoteFollowSchema, { userId, viaUserActorId: follow.remoteActorId });
    for (const each of tagged) await dropFollow(deps, tx, follower, each);
    await tx.manager.delete(remotePersonFollowSchema, { id: follow.id });
    return follow;
  });
}

/** The result of a scan of one followed person. */
export interface ScanResult {
  handle: string;
  added: string[];
  /** The error, when their server could not be reached. */
  error: string | null;
}

/**
 * Scans a followed person for new public repositories. It only adds (SPEC §3): what disappeared or turned private
 * stays followed, and what was unfollowed manually stays unfollowed.
 * @param listOf reads a person's repositories; the caller shares it for all their followers
 */
export async function scanPerson(
  deps: FederationDeps,
  follow: RemotePersonFollow,
  listOf: (personId: string) => Promise<RemoteRepositoryList>,
): Promise<ScanResult> {
  try {
    const follower = await followerActor(deps, follow.userId);
    const added = await followListed(deps, follower, follow, await listOf(follow.remoteActorId));
    return { handle: follow.handle, added, error: null };
  } catch (error) {
    if (!isDomainError(error)) throw error;
    await deps.db.write(({ manager, now }) =>
      manager.update(
        remotePersonFollowSchema,
        { id: follow.id },
        {
          nextScanAt: now + deps.settings.userResyncIntervalMs,
          scanError: error.message,
        },
      ),
    );
    return { handle: follow.handle, added: [], error: error.message };
  }
}
