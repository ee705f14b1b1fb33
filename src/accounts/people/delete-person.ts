import type { AccountsDeps } from '../deps.ts';
import { userSchema } from '../schema/user-schema.ts';
import { noSuchPerson } from './find-people.ts';
import { refuseLastAdministrator } from './set-administrator.ts';

/**
 * Deletes an account with its sessions, tokens, keys and memberships. The handle stays reserved.
 *
 * Refuses `unknown_person`; `last_administrator`; and as the registered hooks do: `last_owner`,
 * `person_owns_repositories`.
 */
export async function deletePerson(deps: AccountsDeps, personId: string): Promise<void> {
  const tidyUps = await deps.db.write(async (tx) => {
    const row = await tx.manager.findOneBy(userSchema, { id: personId });
    if (row === null) throw noSuchPerson();
    if (row.isAdministrator) await refuseLastAdministrator(tx, personId);
    const tidyUps: (() => Promise<void>)[] = [];
    for (const farewell of deps.deletionHooks) tidyUps.push(await farewell(tx, personId));
    await deps.owners.release(tx, personId);
    await tx.manager.delete(userSchema, { id: personId });
    return tidyUps;
  });
  deps.logger.info('person.deleted', { personId });
  for (const tidyUp of tidyUps) await tidyUp();
}
