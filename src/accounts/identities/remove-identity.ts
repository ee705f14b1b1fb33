import type { Tx } from '../../db/index.ts';
import { conflict, notFound } from '../../kernel/index.ts';
import type { AccountsDeps } from '../deps.ts';
import { identitySchema } from '../schema/identity-schema.ts';
import { userSchema } from '../schema/user-schema.ts';
import { toIdentity } from './identity.ts';
import type { Identity } from './identity.ts';

/** How an identity is removed. */
export interface IdentityRemoval {
  /** An administrator may remove the last way in: a link for signing in helps afterwards. */
  evenIfLast?: boolean;
  /** Issuers of providers that are configured: an account of another one signs nobody in. */
  issuers: readonly string[];
}

/**
 * Ends a link, so that the provider's account no longer signs its person in. Sessions go on. Refuses:
 * `unknown_identity` (not_found); `only_way_in` when no password, passkey or other link of a configured provider is
 * left to sign in with.
 */
export async function removeIdentity(
  deps: AccountsDeps,
  personId: string,
  identityId: string,
  { evenIfLast = false, issuers }: IdentityRemoval,
): Promise<Identity> {
  return deps.db.write(async (tx) => {
    const row = await tx.manager.findOneBy(identitySchema, { id: identityId, userId: personId });
    if (row === null) throw notFound('unknown_identity', 'There is no such linked account.');
    await tx.manager.delete(identitySchema, { id: identityId });
    if (!evenIfLast && !(await hasWayIn(deps, tx, personId, issuers)))
      throw conflict(
        'only_way_in',
        'You sign in with this account only. Set a password or link another account first.',
      );
    return toIdentity(row);
  });
}

/** Whether a person can sign in without help, as the write has left it. */
async function hasWayIn(
  { settings }: Pick<AccountsDeps, 'settings'>,
  { manager }: Tx,
  personId: string,
  issuers: readonly string[],
): Promise<boolean> {
  const person = await manager.findOneBy(userSchema, { id: personId });
  if (settings.passwordSignIn && person?.passwordHash != null) return true;
  const left = await manager.findBy(identitySchema, { userId: personId });
  return left.some(({ issuer }) => issuers.includes(issuer));
}
