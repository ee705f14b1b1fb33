import type { AccountsDeps } from '../deps.ts';
import { endAllSessions } from '../end-all-sessions.ts';
import { userSchema } from '../schema/user-schema.ts';
import { noSuchPerson } from './find-people.ts';
import { toPerson } from '../person.ts';
import type { Person } from '../person.ts';
import { refuseLastAdministrator } from './set-administrator.ts';

/**
 * Disables or enables an account. Disabling ends every session at once; tokens and keys are kept, but rejected. Throws
 * `last_administrator`, `unknown_person`.
 */
export async function setDisabled({ db }: AccountsDeps, personId: string, disabled: boolean): Promise<Person> {
  return db.write(async (tx) => {
    const row = await tx.manager.findOneBy(userSchema, { id: personId });
    if (row === null) throw noSuchPerson();
    if ((row.disabledAt !== null) === disabled) return toPerson(row);
    if (disabled && row.isAdministrator) await refuseLastAdministrator(tx, personId);
    const disabledAt = disabled ? tx.now : null;
    await tx.manager.update(userSchema, { id: personId }, { disabledAt });
    if (disabled) await endAllSessions(tx.manager, personId);
    return toPerson({ ...row, disabledAt });
  });
}
