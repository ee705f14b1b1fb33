import { readKeysetPage, selectRows } from '../../db/index.ts';
import type { KeysetPaging } from '../../db/index.ts';
import { bindDeps, conflict, invalid } from '../../kernel/index.ts';
import type { AccountsDeps } from '../deps.ts';
import { noSuchPerson, peopleById } from '../people/find-people.ts';
import type { Person } from '../person.ts';
import { userFollowSchema } from '../schema/user-follow-schema.ts';
import type { UserFollowRow } from '../schema/user-follow-schema.ts';
import { userSchema } from '../schema/user-schema.ts';

/** Maximum number of users that one user follows. */
const mostFollowed = 10_000;

/** Follows a user; idempotent. Throws `unknown_person`, `follows_self`, `too_many_followed`. */
async function follow({ db }: AccountsDeps, followerId: string, followedId: string): Promise<void> {
  if (followerId === followedId) throw invalid('follows_self', 'You cannot follow yourself.');
  await db.write(async ({ manager, now }) => {
    const key = { followerId, followedId };
    if (await manager.existsBy(userFollowSchema, key)) return;
    if (!(await manager.existsBy(userSchema, { id: followedId }))) throw noSuchPerson();
    if ((await manager.countBy(userFollowSchema, { followerId })) >= mostFollowed)
      throw conflict('too_many_followed', `You can follow at most ${mostFollowed} users.`);
    await manager.insert(userFollowSchema, { ...key, createdAt: now });
  });
}

/** Unfollows a user; a missing follow is not an error. */
async function unfollow({ db }: AccountsDeps, followerId: string, followedId: string): Promise<void> {
  await db.write(({ manager }) => manager.delete(userFollowSchema, { followerId, followedId }));
}

const isFollowing = async ({ db }: AccountsDeps, followerId: string, followedId: string): Promise<boolean> =>
  (await db.read.findOneBy(userFollowSchema, { followerId, followedId })) !== null;

/** Number of followers of a user, and of users they follow. */
async function followCounts({ db }: AccountsDeps, personId: string): Promise<{ followers: number; following: number }> {
  const [followers, following] = await Promise.all([
    db.read.countBy(userFollowSchema, { followedId: personId }),
    db.read.countBy(userFollowSchema, { followerId: personId }),
  ]);
  return { followers, following };
}

const sides = {
  followers: { of: 'followed_id', listed: 'follower_id', idOf: (row: UserFollowRow) => row.followerId },
  following: { of: 'follower_id', listed: 'followed_id', idOf: (row: UserFollowRow) => row.followedId },
} as const;

/** Followers of a user, or those whom a user follows, earliest first. Throws `invalid_page`. */
async function listFollows(
  deps: AccountsDeps,
  personId: string,
  side: keyof typeof sides,
  paging: KeysetPaging,
): Promise<{ people: Person[]; next: string | null }> {
  const { of, listed, idOf } = sides[side];
  const { rows, next } = await readKeysetPage(
    paging,
    (row: UserFollowRow) => `${row.createdAt}.${idOf(row)}`,
    ({ key, isBackwards, limit, skip }) => {
      const [, time, id] = key === null ? [] : (/^(\d{1,15})\.([0-9a-f-]{36})$/.exec(key) ?? []);
      if (key !== null && time === undefined) throw invalid('invalid_page', 'This page address is not valid.');
      const beyond = key === null ? '' : `AND (f.created_at, f.${listed}) ${isBackwards ? '<' : '>'} (:time, :id)`;
      const order = isBackwards ? 'DESC' : 'ASC';
      return selectRows(
        deps.db.read,
        userFollowSchema,
        `SELECT f.* FROM user_follows f WHERE f.${of} = :personId ${beyond}
         ORDER BY f.created_at ${order}, f.${listed} ${order} LIMIT :limit OFFSET :skip`,
        { personId, limit, skip, ...(key !== null && { time: Number(time), id }) },
      );
    },
  );
  const people = await peopleById(deps, rows.map(idOf));
  return {
    people: rows.flatMap((row) => people.get(idOf(row)) ?? []).filter(({ disabledAt }) => disabledAt === null),
    next,
  };
}

/** Follows between local users. Remote follows belong to federation. */
export function createFollowing(deps: AccountsDeps) {
  const bind = bindDeps(deps);
  return {
    follow: bind(follow),
    unfollow: bind(unfollow),
    has: bind(isFollowing),
    countsOf: bind(followCounts),
    list: bind(listFollows),
  };
}
