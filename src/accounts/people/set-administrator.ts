import { Not, IsNull } from 'typeorm';
import type { Tx } from '../../db/index.ts';
import { conflict } from '../../kernel/index.ts';
import type { AccountsDeps } from '../deps.ts';
import { endAllSessions } from '../end-all-sessions.ts';
import { userSchema } from '../schema/user-schema.ts';
import { noSuchPerson } from './find-people.ts';
import { toPerson } from '../person.ts';
import type { Person } from '../person.ts';

/**
 * Makes a user an administrator of the instance, or revokes that. Their sessions end with the change, so that none
 * outlives a change of permissions (security D03). Does nothing without a change. Throws `last_administrator`,
 * `unknown_person`.
 */
export async function setAdministrator(
  { db }: AccountsDeps,
  personId: string,
  isAdministrator: boolean,
): Promise<Person> {
  return db.write(async (tx) => {
    const row = await tx.manager.findOneBy(userSchema, { id: personId });
    if (row === null) throw noSuchPerson();
    if (row.isAdministrator === isAdministrator) return toPerson(row);
    if (!isAdministrator) await refuseLastAdministrator(tx, personId);
    await tx.manager.update(userSchema, { id: personId }, { isAdministrator });
    await endAllSessions(tx.manager, personId);
    return toPerson({ ...row, isAdministrator });
  });
}

/**
 * Prevents removing the last administrator who can sign in. Runs inside the transaction that removes one: of two
 * administrators who demote each other, one remains.
 */
export async function refuseLastAdministrator({ manager }: Tx, personId: string): Promise<void> {
  const others = await manager.countBy(userSchema, { isAdministrator: true, disabledAt: IsNull(), id: Not(personId) });
  if (others === 0) {
    throw conflict('last_administrator', 'This is the last administrator. Make another user an administrator first.');
  }
}
