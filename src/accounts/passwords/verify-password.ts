import type { PersonViewer } from '../../access/index.ts';
import { forbidden, invalid } from '../../kernel/index.ts';
import { normalisePassword } from '../password-rules.ts';
import { refusePasswordSignIn } from '../sessions/sign-in-link.ts';
import type { AccountsDeps } from '../deps.ts';
import { userSchema } from '../schema/user-schema.ts';
import type { UserRow } from '../schema/user-schema.ts';

/**
 * Authenticates a program by username and password, without opening a session. An unknown name takes the same time as
 * a wrong password.
 *
 * Throws the errors of a sign-in: `password_sign_in_off`, `wrong_credentials`, `too_many_tries`, `sign_in_busy`; and
 * only with the right password `second_factor_needed` and `password_change_needed`, which a browser prompts for, and
 * `account_disabled`.
 */
export async function viewerOfPassword(
  deps: AccountsDeps,
  { username, password, address }: { username: string; password: string; address: string | null },
): Promise<PersonViewer> {
  refusePasswordSignIn(deps);
  const attempt = { account: username, address };
  await deps.signInRateLimit.refuseExhausted(attempt);
  const row =
    (await rememberedRow(deps, username, password)) ??
    (await deps.hasher.inSlot(async (hashing) => {
      await deps.signInRateLimit.count(attempt);
      const owner = await deps.owners.resolve(username);
      const found = owner?.kind === 'user' ? await deps.db.read.findOneBy(userSchema, { id: owner.id }) : null;
      const given = normalisePassword(password);
      const isRight = await hashing.matches(given ?? '', given === null ? null : (found?.passwordHash ?? null));
      if (!isRight || found?.passwordHash == null) throw invalid('wrong_credentials', 'Wrong username or password.');
      await deps.signInRateLimit.forgive(attempt);
      deps.hasher.remember(given ?? '', found.passwordHash);
      return found;
    }));
  if (row.disabledAt !== null) throw forbidden('account_disabled', 'This account is disabled.');
  if (row.secondFactorAt !== null)
    throw forbidden('second_factor_needed', 'This account has a second factor. Create the token in the browser.');
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

/** The account, if the password was verified recently. */
async function rememberedRow(
  { owners, db, hasher }: AccountsDeps,
  username: string,
  password: string,
): Promise<UserRow | null> {
  const given = normalisePassword(password);
  const owner = given === null ? null : await owners.resolve(username);
  const row = owner?.kind === 'user' ? await db.read.findOneBy(userSchema, { id: owner.id }) : null;
  return row !== null && hasher.remembers(given ?? '', row.passwordHash) ? row : null;
}
