import { idsIn, prefixRange, readKeysetPage } from '../../db/index.ts';
import type { AccountsDeps } from '../deps.ts';
import { userSchema } from '../schema/user-schema.ts';
import type { UserRow } from '../schema/user-schema.ts';
import { listedBy } from './list-profiles.ts';
import type { PeopleOptions, PeoplePage } from './list-profiles.ts';
import { toPerson } from '../person.ts';

/** Rows of another module that refer to users in a column `user_id`; all three from code, never from input. */
interface PeopleReference {
  table: string;
  /** The column to filter by, and its value. */
  column: string;
  id: string;
}

/** Limit of rows to sort; with more, scanning users in order fills a page quickly. */
const fewPeople = 1_000;

/**
 * The users to whom rows of another module refer, sorted by handle, in pages. Omits those without a handle (SPEC §2.4).
 * Few rows are looked up and sorted; for many, users are scanned in list order and checked one by one.
 */
export async function listReferencedPeople(
  { db }: AccountsDeps,
  { table, column, id }: PeopleReference,
  { prefix = '', ...paging }: PeopleOptions,
): Promise<PeoplePage & { total: number | null }> {
  const [counted]: { n: number }[] = await db.read.query(
    `SELECT count(*) AS n FROM (SELECT 1 FROM ${table} WHERE ${column} = ? LIMIT ${fewPeople + 1}) AS limited`,
    [id],
  );
  const isFew = Number(counted?.n) <= fewPeople;
  const from = isFew ? `${table} n CROSS JOIN users u` : `users u CROSS JOIN ${table} n`;
  const [first, upTo] = prefix === '' ? ['', '~'] : prefixRange(prefix.toLowerCase());
  const page = await readKeysetPage<UserRow>(
    paging,
    ({ username }) => username!.toLowerCase(),
    async ({ key, isBackwards, limit }) => {
      const beyond = key === null ? '' : `AND ${listedBy} ${isBackwards ? '<' : '>'} ?`;
      const found: { id: string }[] = await db.read.query(
        `SELECT u.id AS id FROM ${from} WHERE n.${column} = ? AND u.id = n.user_id AND u.username IS NOT NULL
           AND ${listedBy} >= ? AND ${listedBy} < ? ${beyond}
         ORDER BY ${listedBy} ${isBackwards ? 'DESC' : 'ASC'} LIMIT ?`,
        [id, first, upTo, ...(key === null ? [] : [key.toLowerCase()]), limit],
      );
      const rows = await db.read
        .createQueryBuilder(userSchema, 'u')
        .where(
          ...idsIn(
            'u.id',
            found.map((row) => row.id),
          ),
        )
        .getMany();
      const byId = new Map(rows.map((row) => [row.id, row]));
      return found.flatMap((row) => byId.get(row.id) ?? []);
    },
  );
  const total = isFew && prefix === '' ? Number(counted?.n) : null;
  return { people: page.rows.map(toPerson), next: page.next, previous: page.previous, total };
}
