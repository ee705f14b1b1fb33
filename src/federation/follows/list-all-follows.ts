import { In } from 'typeorm';
import { invalid } from '../../kernel/index.ts';
import type { FederationDeps } from '../deps.ts';
import { endFollow, follow } from './follows.ts';
import type { Followed } from './follows.ts';
import { noSuchFollow, retryFollow } from './follow-repository.ts';
import { withStatuses } from './following.ts';
import type { FollowedRepository } from './following.ts';
import { remoteFollowSchema } from '../schema/remote-follow-schema.ts';
import { remotePersonFollowSchema } from '../schema/remote-person-follow-schema.ts';
import type { RemotePersonFollow } from '../schema/remote-person-follow-schema.ts';

/**
 * A follow of a repository, or of a person who has none; or of a person with the number of repositories that came with
 * it, who has no `status` of their own.
 */
export type ListedFollow =
  | FollowedRepository
  | ({ kind: 'person'; status: null; repositories: number } & RemotePersonFollow);

interface FollowFilter {
  /** Whose follows; all by default. */
  userId?: string | undefined;
  limit?: number;
  skip?: number;
}

/** Remote follows of local people, the oldest first; for the administrator. */
export async function listAllFollows(
  deps: FederationDeps,
  { userId, limit = Number.MAX_SAFE_INTEGER, skip = 0 }: FollowFilter = {},
): Promise<ListedFollow[]> {
  const { read } = deps.db;
  const ofOne = userId === undefined ? '' : 'WHERE user_id = ?';
  const keys: { id: string; through: 'one' | 'many' }[] = await read.query(
    `SELECT id, 'one' AS through, created_at FROM remote_follows ${ofOne}
     UNION ALL SELECT id, 'many', created_at FROM remote_user_follows ${ofOne}
     ORDER BY 3, 1 LIMIT ? OFFSET ?`,
    [...(userId === undefined ? [] : [userId, userId]), limit, skip],
  );
  const found = new Map<string, ListedFollow>();
  for (let start = 0; start < keys.length; start += 500) {
    const some = keys.slice(start, start + 500);
    const idsOf = (how: 'one' | 'many') => some.filter(({ through }) => through === how).map(({ id }) => id);
    const single = await withStatuses(deps, await read.findBy(remoteFollowSchema, { id: In(idsOf('one')) }));
    for (const each of single) found.set(each.id, each);
    for (const each of await read.findBy(remotePersonFollowSchema, { id: In(idsOf('many')) })) {
      found.set(each.id, { kind: 'person', status: null, repositories: await countThrough(deps, each), ...each });
    }
  }
  return keys.flatMap(({ id }) => found.get(id) ?? []);
}

/**
 * A person's own follows, the oldest first, in pages.
 * @param after what the page before gave as `next`
 */
export async function listFollows(
  deps: FederationDeps,
  userId: string,
  { after, limit }: { after: string | null; limit: number },
): Promise<{ rows: ListedFollow[]; next: string | null }> {
  const skip = Number(after ?? 0);
  if (!Number.isSafeInteger(skip) || skip < 0)
    throw invalid('invalid_page', 'This page address is not valid.', { field: 'after' });
  const rows = await listAllFollows(deps, { userId, limit: limit + 1, skip });
  return { rows: rows.slice(0, limit), next: rows.length > limit ? String(skip + limit) : null };
}

/** One of a person's own follows. Throws `unknown_follow`, for those of others, too. */
export async function findFollow(deps: FederationDeps, userId: string, id: string): Promise<ListedFollow> {
  const row = await deps.db.read.findOneBy(remoteFollowSchema, { id, userId });
  if (row !== null) return (await withStatuses(deps, [row]))[0]!;
  const person = await deps.db.read.findOneBy(remotePersonFollowSchema, { id, userId });
  if (person === null) throw noSuchFollow();
  return { kind: 'person', status: null, repositories: await countThrough(deps, person), ...person };
}

/** How many repositories came with a followed person. */
const countThrough = ({ db }: FederationDeps, { userId, remoteActorId }: RemotePersonFollow): Promise<number> =>
  db.read.countBy(remoteFollowSchema, { userId, viaUserActorId: remoteActorId });

/** As `follow`, on behalf of another person: written to the audit log. */
export async function followFor(deps: FederationDeps, userId: string, target: string): Promise<Followed> {
  const followed = await follow(deps, userId, target);
  deps.logger.info('follow.added_for', { person: userId, handle: followed.handle });
  return followed;
}

/** Ends a follow of any person. Throws `unknown_follow`. */
export async function endFollowFor(deps: FederationDeps, id: string): Promise<Followed> {
  const userId = await followerOf(deps, id);
  const ended = await endFollow(deps, userId, id);
  deps.logger.info('follow.ended_for', { person: userId, handle: ended.handle });
  return ended;
}

/** As `retryFollow`, for any person. Throws `unknown_follow`. */
export async function retryFollowFor(deps: FederationDeps, id: string): Promise<void> {
  const userId = await followerOf(deps, id);
  const { handle } = await retryFollow(deps, userId, id);
  deps.logger.info('follow.retried_for', { person: userId, handle });
}

async function followerOf({ db }: FederationDeps, id: string): Promise<string> {
  const row =
    (await db.read.findOneBy(remoteFollowSchema, { id })) ??
    (await db.read.findOneBy(remotePersonFollowSchema, { id }));
  if (row === null) throw noSuchFollow();
  return row.userId;
}
