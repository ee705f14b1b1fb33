import type { Tx } from '../db/index.ts';
import { conflict } from '../kernel/index.ts';
import type { AccountsDeps } from './deps.ts';
import { relyingPartyOf } from './relying-party.ts';
import { identitySchema } from './schema/identity-schema.ts';
import { passkeySchema } from './schema/passkey-schema.ts';
import { userSchema } from './schema/user-schema.ts';

/**
 * For transactions that remove a user's own sign-in method: throws `only_way_in` if no password, passkey or account of
 * a configured provider is left.
 */
export async function refuseLastSignInMethod(
  { settings, baseUrl }: Pick<AccountsDeps, 'settings' | 'baseUrl'>,
  { manager }: Tx,
  personId: string,
): Promise<void> {
  const person = await manager.findOneBy(userSchema, { id: personId });
  if (settings.passwordSignIn && person?.passwordHash != null) return;
  if (relyingPartyOf(baseUrl) !== null && (await manager.existsBy(passkeySchema, { userId: personId }))) return;
  const left = await manager.findBy(identitySchema, { userId: personId });
  if (left.some(({ issuer }) => settings.providerIssuers.includes(issuer))) return;
  throw conflict(
    'only_way_in',
    'You would not be able to sign in without it. Set a password or link another account first.',
  );
}
