import type { AccountsDeps } from '../deps.ts';
import { userSchema } from '../schema/user-schema.ts';
import { noSuchPerson } from './find-people.ts';
import { refuseLastAdministrator } from './set-administrator.ts';

/**
 * Deletes an account with its sessions, tokens, keys and memberships. The handle stays reserved.
 *
 * Throws `unknown_person`; `last_administrator`; and errors of the registered hooks: `last_owner`,
 * `person_owns_repositories`.
 */
export async function deletePerson(deps: AccountsDeps, personId: string): Promise<void> {
  const cleanups = await deps.db.write(async (tx) => {
    const row = await tx.manager.findOneBy(userSchema, { id: personId });
    if (row === null) throw noSuchPerson();
    if (row.isAdministrator) await refuseLastAdministrator(tx, personId);
    const cleanups: (() => Promise<void>)[] = [];
    for (const hook of deps.deletionHooks) cleanups.push(await hook(tx, personId));
    await deps.owners.release(tx, personId);
    await tx.manager.delete(userSchema, { id: personId });
    return cleanups;
  });
  deps.logger.info('person.deleted', { personId });
  for (const tidyUp of cleanups) await tidyUp();
}
