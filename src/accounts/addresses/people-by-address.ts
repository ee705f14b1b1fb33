import { idsIn, inList } from '../../db/index.ts';
import type { AccountsDeps } from '../deps.ts';
import { toPerson } from '../person.ts';
import type { Person } from '../person.ts';
import { userSchema } from '../schema/user-schema.ts';
import { addressKey } from './address-rules.ts';

/**
 * The users to whom addresses belong: by a verified address, or by a no-reply address of this instance. Omits users who
 * have not chosen a handle (SPEC §2.4). Takes two statements for any number of addresses.
 *
 * @param addresses as in commits: any text
 * @returns keyed by the address as given
 */
export async function peopleByAddress(
  { db, noReply }: AccountsDeps,
  addresses: Iterable<string>,
): Promise<Map<string, Person>> {
  const ids = new Map<string, string>();
  const keys = new Map<string, string>();
  for (const address of new Set(addresses)) {
    const id = noReply.personIdOf(address);
    const key = id === null ? addressKey(address) : null;
    if (id !== null) ids.set(address, id);
    if (key !== null) keys.set(address, key);
  }
  if (keys.size > 0) {
    const rows: { address_key: string; user_id: string }[] = await db.read.query(
      `SELECT address_key, user_id FROM email_addresses WHERE verified_at IS NOT NULL AND ${inList('address_key')}`,
      [JSON.stringify([...new Set(keys.values())])],
    );
    const holders = new Map(rows.map((row) => [row.address_key, row.user_id]));
    for (const [address, key] of keys) {
      const id = holders.get(key);
      if (id !== undefined) ids.set(address, id);
    }
  }
  if (ids.size === 0) return new Map();
  const rows = await db.read
    .createQueryBuilder(userSchema, 'u')
    .where(...idsIn('u.id', new Set(ids.values())))
    .andWhere('u.username IS NOT NULL')
    .getMany();
  const people = new Map(rows.map((row) => [row.id, toPerson(row)]));
  return new Map(
    [...ids].flatMap(([address, id]): [string, Person][] => {
      const person = people.get(id);
      return person === undefined ? [] : [[address, person]];
    }),
  );
}

/** The id of the user who has verified this address; `null` for every other text. */
export async function personIdOfAddress({ db }: Pick<AccountsDeps, 'db'>, address: string): Promise<string | null> {
  const key = addressKey(address);
  if (key === null) return null;
  const rows: { user_id: string }[] = await db.read.query(
    'SELECT user_id FROM email_addresses WHERE verified_at IS NOT NULL AND address_key = ?',
    [key],
  );
  return rows[0]?.user_id ?? null;
}
