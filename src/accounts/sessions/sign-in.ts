import { invalid } from '../../kernel/index.ts';
import { personIdOfAddress } from '../addresses/people-by-address.ts';
import { normalisePassword } from '../password-rules.ts';
import type { AccountsDeps } from '../deps.ts';
import { userSchema } from '../schema/user-schema.ts';
import type { UserRow } from '../schema/user-schema.ts';
import { completeWithin } from './complete-sign-in.ts';
import type { SignInResult } from './complete-sign-in.ts';
import { accountDisabled } from './start-session.ts';
import type { SessionOrigin } from './start-session.ts';
import { refusePasswordSignIn } from './sign-in-link.ts';

interface SignInInput extends SessionOrigin {
  /** A handle, ignoring case, or a verified address; ignores surrounding space. */
  username: string;
  password: string;
}

/**
 * Signs in with handle or verified address, and password: opens a session, or requires the user's second factor if
 * there is one. An unknown name takes the same time and gets the same response as a wrong password (security D05).
 * Rehashes a password stored with another cost.
 *
 * Throws `password_sign_in_off`; `wrong_credentials` (invalid); `account_disabled` (forbidden), only with the right
 * password; as `unavailable` with a time to wait: `too_many_tries` (429 over HTTP), `sign_in_busy`.
 */
export async function signIn(deps: AccountsDeps, input: SignInInput): Promise<SignInResult> {
  refusePasswordSignIn(deps);
  const username = typeof input.username === 'string' ? input.username.trim() : '';
  const attempt = { account: username, address: input.address };
  await deps.signInRateLimit.refuseExhausted(attempt);

  const { row, upgraded } = await deps.hasher.inSlot(async (hashing) => {
    // Counted here and not before the queue: many right passwords at once are not an attack, and none of them may be
    // rejected.
    await deps.signInRateLimit.count(attempt);
    const row = await findByName(deps, username);
    const password = normalisePassword(input.password);
    const isRight = await hashing.matches(password ?? '', password === null ? null : (row?.passwordHash ?? null));
    if (!isRight || row?.passwordHash == null) throw wrongCredentials();
    await deps.signInRateLimit.forgive(attempt);
    const upgraded = hashing.isOutdated(row.passwordHash) ? await hashing.hash(password!) : null;
    return { row, upgraded };
  });
  if (row.disabledAt !== null) throw accountDisabled();

  const signedIn = await deps.db.write(async (tx) => {
    const now = await tx.manager.findOneBy(userSchema, { id: row.id });
    if (now?.passwordHash !== row.passwordHash) return null;
    if (upgraded !== null) await tx.manager.update(userSchema, { id: row.id }, { passwordHash: upgraded });
    const { username: _, password: __, ...origin } = input;
    return completeWithin(deps, tx, now, { ...origin, method: 'password' });
  });
  // The stored hash changed since the comparison. A password change ends all sessions, so a sign-in with the old one
  // must not succeed after it; but the same password may only have been rehashed. A second attempt decides.
  return signedIn ?? signIn(deps, input);
}

/** No handle contains an `@`, so a text is either. */
async function findByName(deps: AccountsDeps, username: string): Promise<UserRow | null> {
  const { db, owners } = deps;
  if (username.includes('@')) {
    const id = await personIdOfAddress(deps, username);
    return id === null ? null : db.read.findOneBy(userSchema, { id });
  }
  const owner = await owners.resolve(username);
  return owner?.kind === 'user' ? db.read.findOneBy(userSchema, { id: owner.id }) : null;
}

/** One message for both cases, without a field: it must not reveal which half was wrong. */
function wrongCredentials() {
  return invalid('wrong_credentials', 'Wrong username or password.');
}
