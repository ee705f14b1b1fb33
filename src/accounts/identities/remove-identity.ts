import { notFound } from '../../kernel/index.ts';
import type { AccountsDeps } from '../deps.ts';
import { identitySchema } from '../schema/identity-schema.ts';
import { refuseLastSignInMethod } from '../last-sign-in-method.ts';
import { toIdentity } from './identity.ts';
import type { Identity } from './identity.ts';

/**
 * Ends a link, so that the provider's account no longer signs its person in. Sessions go on.
 * @param options.evenIfLast for an administrator: a link for signing in helps afterwards
 *
 * Refuses: `unknown_identity` (not_found); `only_way_in`.
 */
export async function removeIdentity(
  deps: AccountsDeps,
  personId: string,
  identityId: string,
  { evenIfLast = false }: { evenIfLast?: boolean } = {},
): Promise<Identity> {
  return deps.db.write(async (tx) => {
    const row = await tx.manager.findOneBy(identitySchema, { id: identityId, userId: personId });
    if (row === null) throw notFound('unknown_identity', 'There is no such linked account.');
    await tx.manager.delete(identitySchema, { id: identityId });
    if (!evenIfLast) await refuseLastSignInMethod(deps, tx, personId);
    return toIdentity(row);
  });
}
