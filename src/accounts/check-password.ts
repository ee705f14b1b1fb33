import { invalid } from '../kernel/index.ts';
import type { AccountsDeps } from './deps.ts';
import { normalisePassword } from './password-rules.ts';
import type { UserRow } from './schema/user-schema.ts';

export interface GivenPassword {
  password: string;
  /** The client's network address; wrong passwords count as failed sign-ins. */
  address: string | null;
}

/** Throws `wrong_password` with this field, `too_many_tries`, `sign_in_busy`. */
export async function checkPassword(
  { hasher, signInRateLimit }: Pick<AccountsDeps, 'hasher' | 'signInRateLimit'>,
  row: UserRow,
  { password, address }: GivenPassword,
  field = 'password',
): Promise<void> {
  const given = normalisePassword(password);
  const attempt = { account: row.username ?? row.id, address };
  await signInRateLimit.refuseExhausted(attempt);
  await hasher.inSlot(async (hashing) => {
    await signInRateLimit.count(attempt);
    if (!(await hashing.matches(given ?? '', given === null ? null : row.passwordHash)))
      throw invalid('wrong_password', 'This is not your password.', { field });
    await signInRateLimit.forgive(attempt);
  });
}
