import { IsNull } from 'typeorm';
import { conflict, invalid } from '../../kernel/index.ts';
import { endResetLinks } from '../addresses/one-time-links.ts';
import { noSuchPerson } from '../people/find-people.ts';
import type { AccountsDeps } from '../deps.ts';
import { endAllSessions } from '../end-all-sessions.ts';
import { announceSecurityEvent } from '../security-events.ts';
import { userSchema } from '../schema/user-schema.ts';
import { normalisePassword, parsePassword } from '../password-rules.ts';

interface PasswordChange {
  currentPassword: string;
  newPassword: string;
  /** The current session, which continues while all others end. `null` ends all. */
  keepSessionId: string | null;
  /** The client's network address; wrong passwords count as failed sign-ins. */
  address: string | null;
}

/**
 * Changes a user's own password and ends all other sessions. An account without a password gets its first one; the
 * caller requires another proof.
 *
 * Throws the errors of the rules of passwords, with field `new_password`; `wrong_password` and `same_password`, with
 * their field; `too_many_tries`, `sign_in_busy`; `password_changed` if another change came first; `unknown_person`.
 */
export async function changePassword(deps: AccountsDeps, personId: string, change: PasswordChange): Promise<void> {
  const { db, hasher, signInRateLimit } = deps;
  const next = parsePassword(change.newPassword, 'new_password');
  const current = normalisePassword(change.currentPassword);
  const row = await db.read.findOneBy(userSchema, { id: personId });
  if (row === null) throw noSuchPerson();
  if (current === next) {
    throw invalid('same_password', 'The new password is the same as the old one.', { field: 'new_password' });
  }

  const attempt = { account: row.username ?? row.id, address: change.address };
  await signInRateLimit.refuseExhausted(attempt);
  const passwordHash = await hasher.inSlot(async (hashing) => {
    if (row.passwordHash === null) return hashing.hash(next);
    await signInRateLimit.count(attempt);
    const isRight = await hashing.matches(current ?? '', current === null ? null : row.passwordHash);
    if (!isRight) throw invalid('wrong_password', 'The current password is wrong.', { field: 'current_password' });
    await signInRateLimit.forgive(attempt);
    return hashing.hash(next);
  });

  await db.write(async (tx) => {
    const { manager, now } = tx;
    const { affected } = await manager.update(
      userSchema,
      { id: personId, passwordHash: row.passwordHash ?? IsNull() },
      { passwordHash, mustChangePassword: false },
    );
    if (affected === 0) throw conflict('password_changed', 'The password has been changed. Sign in again.');
    await endAllSessions(manager, personId, change.keepSessionId);
    await endResetLinks(manager, personId, now);
    await announceSecurityEvent(deps, tx, personId, { kind: 'password_changed', by: 'person' });
  });
}
