import type { AccountsDeps } from '../deps.ts';
import { endResetLinks } from '../addresses/one-time-links.ts';
import { noSuchPerson } from '../people/find-people.ts';
import { endAllSessions } from '../end-all-sessions.ts';
import { announceSecurityEvent } from '../security-events.ts';
import { userSchema } from '../schema/user-schema.ts';
import { parsePassword } from '../password-rules.ts';

/**
 * Sets a user's password without the old one, for administrators. Ends all their sessions; tokens and keys stay valid.
 *
 * @param options.mustChangePassword whether the user must choose their own at the next sign-in. Throws the errors of
 *   the rules of passwords, `unknown_person`, `sign_in_busy`.
 */
export async function setPassword(
  deps: AccountsDeps,
  personId: string,
  password: string,
  { mustChangePassword = false }: { mustChangePassword?: boolean } = {},
): Promise<void> {
  const { db, hasher } = deps;
  const checked = parsePassword(password);
  const passwordHash = await hasher.inSlot((hashing) => hashing.hash(checked));
  await db.write(async (tx) => {
    const { manager, now } = tx;
    const { affected } = await manager.update(userSchema, { id: personId }, { passwordHash, mustChangePassword });
    if (affected === 0) throw noSuchPerson();
    await endAllSessions(manager, personId);
    await endResetLinks(manager, personId, now);
    await announceSecurityEvent(deps, tx, personId, { kind: 'password_changed', by: 'administrator' });
  });
}
