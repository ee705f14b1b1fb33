import { notFound } from '../../kernel/index.ts';
import type { AccountsDeps } from '../deps.ts';
import { identitySchema } from '../schema/identity-schema.ts';
import { refuseLastSignInMethod } from '../require-remaining-sign-in-method.ts';
import { toIdentity } from './identity.ts';
import type { Identity } from './identity.ts';

/**
 * Removes a link, so that the provider account no longer signs in its user. Sessions continue.
 * @param options.evenIfLast for an administrator: a sign-in link helps afterwards
 *
 * Throws `unknown_identity` (not_found); `only_way_in`.
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
