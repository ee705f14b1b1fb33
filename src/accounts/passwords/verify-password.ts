import type { PersonViewer } from '../../access/index.ts';
import { forbidden, invalid } from '../../kernel/index.ts';
import { normalisePassword } from '../password-rules.ts';
import { refusePasswordSignIn } from '../sessions/sign-in-link.ts';
import type { AccountsDeps } from '../deps.ts';
import { userSchema } from '../schema/user-schema.ts';

/**
 * The person of a name and a password, for programs that make themselves a token: no session is opened. An unknown name
 * takes the same time as a wrong password.
 *
 * Refuses as a sign-in does: `password_sign_in_off`, `wrong_credentials`, `too_many_tries`, `sign_in_busy`; and only
 * with the right password `second_factor_needed` and `password_change_needed`, which a browser asks for, and
 * `account_disabled`.
 */
export async function viewerOfPassword(
  deps: AccountsDeps,
  { username, password, address }: { username: string; password: string; address: string | null },
): Promise<PersonViewer> {
  refusePasswordSignIn(deps);
  const attempt = { account: username, address };
  await deps.signInRateLimit.refuseExhausted(attempt);
  const row = await deps.hasher.inSlot(async (hashing) => {
    await deps.signInRateLimit.count(attempt);
    const owner = await deps.owners.resolve(username);
    const found = owner?.kind === 'user' ? await deps.db.read.findOneBy(userSchema, { id: owner.id }) : null;
    const given = normalisePassword(password);
    const isRight = await hashing.matches(given ?? '', given === null ? null : (found?.passwordHash ?? null));
    if (!isRight || found?.passwordHash == null) throw invalid('wrong_credentials', 'Wrong username or password.');
    await deps.signInRateLimit.forgive(attempt);
    return found;
  });
  if (row.disabledAt !== null) throw forbidden('account_disabled', 'This account is disabled.');
  if (row.secondFactorAt !== null)
    throw forbidden('second_factor_needed', 'This account has a second factor: create the token in the browser.');
  if (row.mustChangePassword) throw forbidden('password_change_needed', 'Choose a new password in the browser first.');
  return {
    kind: 'person',
    id: row.id,
    username: row.username,
    isAdministrator: row.isAdministrator,
    via: 'token',
    scope: 'admin',
    repositoryIds: null,
  };
}
