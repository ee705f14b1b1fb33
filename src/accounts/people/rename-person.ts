import type { AccountsDeps } from '../deps.ts';
import { userSchema } from '../schema/user-schema.ts';
import { noSuchPerson } from './find-people.ts';
import { toPerson } from '../person.ts';
import type { Person } from '../person.ts';

/**
 * Changes a user's handle. The old one redirects to the new one and stays reserved, because a new owner could
 * impersonate them (security E07). Throws `invalid_handle`, `reserved_handle`, `handle_taken`; `unknown_person`.
 */
export async function renamePerson(
  { db, owners, logger }: AccountsDeps,
  personId: string,
  handle: string,
): Promise<Person> {
  const { before, person } = await db.write(async (tx) => {
    const row = await tx.manager.findOneBy(userSchema, { id: personId });
    if (row === null) throw noSuchPerson();
    const { display: username } = await owners.rename(tx, { handle, kind: 'user', ownerId: personId });
    await tx.manager.update(userSchema, { id: personId }, { username });
    return { before: row.username, person: toPerson({ ...row, username }) };
  });
  logger.info('person.renamed', { personId, before, username: person.username });
  return person;
}
