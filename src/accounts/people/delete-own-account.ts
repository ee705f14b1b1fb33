import type { AccountsDeps } from '../deps.ts';
import { checkPassword } from '../check-password.ts';
import type { GivenPassword } from '../check-password.ts';
import { userSchema } from '../schema/user-schema.ts';
import { deletePerson } from './delete-person.ts';
import { noSuchPerson } from './find-people.ts';

/**
 * Deletes one's own account. Asks for the password, because a session left open on a shared computer is not enough; of
 * an account without a password, its caller asks for another proof.
 *
 * Refuses `wrong_password` with field `password`; `too_many_tries`, `sign_in_busy`; as `deletePerson` does.
 */
export async function deleteOwnAccount(deps: AccountsDeps, personId: string, given: GivenPassword): Promise<void> {
  const row = await deps.db.read.findOneBy(userSchema, { id: personId });
  if (row === null) throw noSuchPerson();
  if (row.passwordHash !== null) await checkPassword(deps, row, given);
  await deletePerson(deps, personId);
}
