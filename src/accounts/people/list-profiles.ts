import type { SelectQueryBuilder } from 'typeorm';
import { ageKey, prefixRange, readAgeKey, readCounts, readKeysetPage } from '../../db/index.ts';
import type { KeysetPage, KeysetPaging } from '../../db/index.ts';
import type { AccountsDeps } from '../deps.ts';
import { userSchema } from '../schema/user-schema.ts';
import type { UserRow } from '../schema/user-schema.ts';
import { toPerson } from '../person.ts';
import type { Person } from '../person.ts';

type ProfileOrder = 'name' | 'created';

/** `people` and the keys of the adjacent pages. */
export interface PeoplePage extends Omit<KeysetPage<Person>, 'rows'> {
  people: Person[];
}

export interface PeopleOptions extends KeysetPaging {
  /** Only handles with this prefix, ignoring case. Sorted by handle. */
  prefix?: string;
}

/** Sort key of users, the same expression as in the index `users_listed`: those without a handle come last. */
export const listedBy = "COALESCE(lower(u.username), '~' || u.id)";
const endOfHandles = '~';

/**
 * Publicly visible users: with a handle (SPEC §2.4) and not disabled. Sorted by handle, or newest first. Keyset
 * pagination. Throws `invalid_page` for an `after` or `before` that it did not create.
 */
export async function listProfiles(
  { db }: AccountsDeps,
  { sort = 'name', prefix = '', ...paging }: PeopleOptions & { sort?: ProfileOrder },
): Promise<PeoplePage> {
  const query = db.read.createQueryBuilder(userSchema, 'u').where('u.username IS NOT NULL AND u.disabled_at IS NULL');
  if (sort === 'created' && prefix === '') return listByAge(query, paging);
  return listByHandle(query.andWhere(`${listedBy} < :endOfHandles`, { endOfHandles }), prefix, paging);
}

/** All accounts, for administrators: sorted by handle, users without one last. */
export async function listAccounts(
  { db }: AccountsDeps,
  { prefix = '', ...paging }: PeopleOptions,
): Promise<PeoplePage> {
  return listByHandle(db.read.createQueryBuilder(userSchema, 'u').where('u.id IS NOT NULL'), prefix, paging);
}

type PeopleQuery = SelectQueryBuilder<UserRow>;

async function listByHandle(query: PeopleQuery, prefix: string, paging: KeysetPaging): Promise<PeoplePage> {
  if (prefix !== '') {
    const [from, upTo] = prefixRange(prefix.toLowerCase());
    query.andWhere(`${listedBy} >= :from AND ${listedBy} < :upTo`, { from, upTo });
  }
  const keyOf = ({ username, id }: UserRow): string => username?.toLowerCase() ?? `~${id}`;
  return toPage(
    await readKeysetPage(paging, keyOf, ({ key, isBackwards, limit }) => {
      if (key !== null) query.andWhere(`${listedBy} ${isBackwards ? '<' : '>'} :key`, { key: key.toLowerCase() });
      return query
        .orderBy(listedBy, isBackwards ? 'DESC' : 'ASC')
        .limit(limit)
        .getMany();
    }),
  );
}

async function listByAge(query: PeopleQuery, paging: KeysetPaging): Promise<PeoplePage> {
  return toPage(
    await readKeysetPage<UserRow>(paging, ageKey, ({ key, isBackwards, limit }) => {
      if (key !== null) query.andWhere(`(u.created_at, u.id) ${isBackwards ? '>' : '<'} (:at, :id)`, readAgeKey(key));
      const direction = isBackwards ? 'ASC' : 'DESC';
      return query.orderBy('u.created_at', direction).addOrderBy('u.id', direction).limit(limit).getMany();
    }),
  );
}

const toPage = ({ rows, next, previous }: KeysetPage<UserRow>): PeoplePage => ({
  people: rows.map(toPerson),
  next,
  previous,
});

/** The number of accounts, and of publicly visible ones. */
export async function countPeople({ db }: AccountsDeps): Promise<{ accounts: number; profiles: number }> {
  const { accounts, profiles } = await readCounts(db.read);
  return { accounts, profiles };
}
