import type { AccountsDeps } from '../deps.ts';
import { checkPassword } from '../check-password.ts';
import type { GivenPassword } from '../check-password.ts';
import { userSchema } from '../schema/user-schema.ts';
import { deletePerson } from './delete-person.ts';
import { noSuchPerson } from './find-people.ts';

/**
 * Deletes the user's own account. Requires the password, because a session left open on a shared computer is not
 * enough; for an account without a password, the caller requires another proof.
 *
 * Throws `wrong_password` with field `password`; `too_many_tries`, `sign_in_busy`; what `deletePerson` throws.
 */
export async function deleteOwnAccount(deps: AccountsDeps, personId: string, given: GivenPassword): Promise<void> {
  const row = await deps.db.read.findOneBy(userSchema, { id: personId });
  if (row === null) throw noSuchPerson();
  if (row.passwordHash !== null) await checkPassword(deps, row, given);
  await deletePerson(deps, personId);
}
