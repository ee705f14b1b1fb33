import { conflict } from '../../kernel/index.ts';
import type { AccountsDeps } from '../deps.ts';
import { userSchema } from '../schema/user-schema.ts';
import { noSuchPerson } from './find-people.ts';
import { toPerson } from '../person.ts';
import type { Person } from '../person.ts';

/**
 * Completes onboarding: gives a user their first handle, which makes them visible to others (SPEC §2.4). Throws
 * `invalid_handle`, `reserved_handle`, `handle_taken`; `handle_already_chosen`; `unknown_person`.
 */
export async function chooseHandle({ db, owners }: AccountsDeps, personId: string, handle: string): Promise<Person> {
  return db.write(async (tx) => {
    const row = await tx.manager.findOneBy(userSchema, { id: personId });
    if (row === null) throw noSuchPerson();
    if (row.username !== null) {
      throw conflict('handle_already_chosen', `You already have a username: ${row.username}.`, { field: 'handle' });
    }
    const { display: username } = await owners.claim(tx, { handle, kind: 'user', ownerId: personId });
    await tx.manager.update(userSchema, { id: personId }, { username });
    return toPerson({ ...row, username });
  });
}
