import type { Tx } from '../../db/index.ts';
import { isUniqueViolation } from '../../db/index.ts';
import { conflict } from '../../kernel/index.ts';
import type { AccountsDeps } from '../deps.ts';
import { noSuchPerson } from '../people/find-people.ts';
import { identitySchema } from '../schema/identity-schema.ts';
import type { IdentityRow } from '../schema/identity-schema.ts';
import { announceSecurityEvent } from '../security-events.ts';
import { userSchema } from '../schema/user-schema.ts';
import { cleanLabel, toIdentity } from './identity.ts';
import type { Identity, VerifiedIdentity } from './identity.ts';

const maxIdentitiesPerPerson = 50;

/**
 * Links a provider account to a user, who can then sign in with it. An existing link stays. Throws `identity_in_use` if
 * it belongs to another user; `too_many_identities`; `unknown_person`.
 */
export async function addIdentity(deps: AccountsDeps, personId: string, verified: VerifiedIdentity): Promise<Identity> {
  return deps.db.write(async (tx) => {
    const { manager } = tx;
    if (!(await manager.existsBy(userSchema, { id: personId }))) throw noSuchPerson();
    const { issuer, subject } = verified;
    const known = await manager.findOneBy(identitySchema, { issuer, subject });
    if (known !== null && known.userId !== personId) throw identityInUse();
    if (known !== null) return toIdentity(known);
    if ((await manager.countBy(identitySchema, { userId: personId })) >= maxIdentitiesPerPerson)
      throw conflict('too_many_identities', `You already have ${maxIdentitiesPerPerson} linked accounts.`);
    const identity = toIdentity(await insertIdentity(deps, tx, personId, verified));
    await announceSecurityEvent(deps, tx, personId, { kind: 'account_linked', issuer, label: identity.label });
    return identity;
  });
}

/** Inserts a link. Throws `identity_in_use`. */
export async function insertIdentity(
  { random }: Pick<AccountsDeps, 'random'>,
  { manager, now }: Tx,
  personId: string,
  { issuer, subject, label }: VerifiedIdentity,
): Promise<IdentityRow> {
  const row: IdentityRow = {
    id: random.uuid(),
    userId: personId,
    issuer,
    subject,
    label: cleanLabel(label),
    createdAt: now,
    lastUsedAt: now,
  };
  try {
    await manager.insert(identitySchema, row);
  } catch (error) {
    if (isUniqueViolation(error, 'person_identities_subject')) throw identityInUse(error);
    throw error;
  }
  return row;
}

/** Records a sign-in, and the provider's current label of the account. */
export async function recordIdentityUse(
  { db }: AccountsDeps,
  { issuer, subject, label }: VerifiedIdentity,
): Promise<void> {
  await db.write(({ manager, now }) =>
    manager.update(identitySchema, { issuer, subject }, { lastUsedAt: now, label: cleanLabel(label) }),
  );
}

function identityInUse(cause?: unknown) {
  return conflict('identity_in_use', 'Another user on this server signs in with this account.', { cause });
}
