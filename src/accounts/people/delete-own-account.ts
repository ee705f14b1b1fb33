import { invalid } from '../../kernel/index.ts';
import { normalisePassword } from '../password-rules.ts';
import type { AccountsDeps } from '../deps.ts';
import { userSchema } from '../schema/user-schema.ts';
import { deletePerson } from './delete-person.ts';
import { noSuchPerson } from './find-people.ts';

export interface Reauthentication {
  password: string;
  /** The client's address; wrong passwords count as failed sign-ins. */
  address: string | null;
}

/**
 * Deletes one's own account. Asks for the password, because a session left open on a shared computer is not enough.
 *
 * Refuses `wrong_password` with field `password`; `too_many_tries`, `sign_in_busy`; as `deletePerson` does.
 */
export async function deleteOwnAccount(
  deps: AccountsDeps,
  personId: string,
  { password, address }: Reauthentication,
): Promise<void> {
  const { db, hasher, signInRateLimit } = deps;
  const row = await db.read.findOneBy(userSchema, { id: personId });
  if (row === null) throw noSuchPerson();
  const given = normalisePassword(password);
  const attempt = { account: row.username ?? row.id, address };
  await signInRateLimit.refuseExhausted(attempt);
  await hasher.inSlot(async (hashing) => {
    await signInRateLimit.count(attempt);
    if (!(await hashing.matches(given ?? '', given === null ? null : row.passwordHash))) {
      throw invalid('wrong_password', 'This is not your password.', { field: 'password' });
    }
    await signInRateLimit.forgive(attempt);
  });
  await deletePerson(deps, personId);
}
