import type { AccountsDeps } from '../deps.ts';
import { checkPassword } from '../check-password.ts';
import type { GivenPassword } from '../check-password.ts';
import { noSuchPerson } from '../people/find-people.ts';
import { sessionSchema } from '../schema/session-schema.ts';
import { userSchema } from '../schema/user-schema.ts';

/** Whether the session's user has confirmed their identity recently enough for a dangerous action. */
export function isRecentlyConfirmed(
  { clock, settings }: Pick<AccountsDeps, 'clock' | 'settings'>,
  { confirmedAt }: { confirmedAt: number },
): boolean {
  return clock.now() - confirmedAt < settings.confirmAfterMs;
}

/** Records that a user has just proved their identity in this session. */
export async function confirmSession({ db }: AccountsDeps, personId: string, sessionId: string): Promise<void> {
  await db.write(({ manager, now }) =>
    manager.update(sessionSchema, { id: sessionId, userId: personId }, { confirmedAt: now }),
  );
}

/** The same by password. Throws `wrong_password` with field `confirm_password`, `too_many_tries`, `sign_in_busy`. */
export async function confirmWithPassword(
  deps: AccountsDeps,
  personId: string,
  sessionId: string,
  given: GivenPassword,
): Promise<void> {
  const row = await deps.db.read.findOneBy(userSchema, { id: personId });
  if (row === null) throw noSuchPerson();
  await checkPassword(deps, row, given, 'confirm_password');
  await confirmSession(deps, personId, sessionId);
}

/** Whether a user has a password at all. */
export async function hasPassword({ db }: AccountsDeps, personId: string): Promise<boolean> {
  const row = await db.read.findOneBy(userSchema, { id: personId });
  return row?.passwordHash != null;
}
