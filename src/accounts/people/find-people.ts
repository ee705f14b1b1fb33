import { In } from 'typeorm';
import { notFound } from '../../kernel/index.ts';
import type { AccountsDeps } from '../deps.ts';
import { userSchema } from '../schema/user-schema.ts';
import { toPerson } from '../person.ts';
import type { Person } from '../person.ts';

/** Finds a user, with or without a handle. Throws `not_found`. */
export async function personById({ db }: AccountsDeps, id: string): Promise<Person> {
  const row = await db.read.findOneBy(userSchema, { id });
  if (row === null) throw noSuchPerson();
  return toPerson(row);
}

/** Finds a user by handle, ignoring case. Throws `not_found`. */
export async function personByUsername(deps: AccountsDeps, username: string): Promise<Person> {
  const owner = await deps.owners.resolve(username);
  if (owner?.kind !== 'user') throw noSuchPerson();
  return personById(deps, owner.id);
}

/** Finds a user by handle who is not disabled, for their public content. Throws `not_found`. */
export async function activePerson(deps: AccountsDeps, username: string): Promise<Person> {
  const person = await personByUsername(deps, username);
  if (person.disabledAt !== null) throw noSuchPerson();
  return person;
}

/** The users with these ids who have a handle (SPEC §2.4). */
export async function peopleById({ db, owners }: AccountsDeps, ids: Iterable<string>): Promise<Map<string, Person>> {
  const visible = [...(await owners.ownersById(ids)).keys()];
  const rows = visible.length === 0 ? [] : await db.read.findBy(userSchema, { id: In(visible) });
  return new Map(rows.map((row) => [row.id, toPerson(row)]));
}

/** Where UUIDs begin and end that start with an integer, the form of ids of Gitea's clients; null above 48 bits. */
export function idsOfNumber(number: number): [from: string, before: string] | null {
  if (!Number.isSafeInteger(number) || number < 0 || number >= 2 ** 48) return null;
  const hex = number.toString(16).padStart(12, '0');
  const start = `${hex.slice(0, 8)}-${hex.slice(8)}`;
  return [`${start}-`, `${start}.`];
}

/** The id of the user whom Gitea's clients know by this number, the start of the id; null without one. */
export async function idByNumber({ db }: AccountsDeps, number: number): Promise<string | null> {
  const range = idsOfNumber(number);
  if (range === null) return null;
  const sql = 'SELECT id FROM users WHERE id >= ? AND id < ? ORDER BY id LIMIT 1';
  const rows: { id: string }[] = await db.read.query(sql, range);
  return rows[0]?.id ?? null;
}

/** All accounts, including users without a handle, for administrators. Sorted by handle, users without one last. */
export async function listPeople({ db }: AccountsDeps): Promise<Person[]> {
  const rows = await db.read.find(userSchema, { order: { createdAt: 'ASC' } });
  const key = (person: Person) => person.username?.toLowerCase() ?? '\u{10ffff}';
  return rows.map(toPerson).sort((a, b) => (key(a) < key(b) ? -1 : key(a) > key(b) ? 1 : 0));
}

/** Whether an administrator exists; disabled ones count. */
export async function hasAdministrator({ db }: AccountsDeps): Promise<boolean> {
  // Plain SQL: every start runs this query first, and the mapper's first query is slow.
  const rows: unknown[] = await db.read.query('SELECT 1 FROM users WHERE is_administrator = 1 LIMIT 1');
  return rows.length > 0;
}

export function noSuchPerson() {
  return notFound('unknown_person', 'There is no such person.');
}
