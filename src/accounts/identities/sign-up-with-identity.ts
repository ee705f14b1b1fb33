import { isNotNull } from '../../db/index.ts';
import type { AccountsDeps } from '../deps.ts';
import { insertAddress } from '../addresses/add-address.ts';
import { readAddress } from '../addresses/address-rules.ts';
import { insertPerson, preparePerson } from '../people/insert-person.ts';
import { displayNameRule } from '../people/profile-rules.ts';
import { cleanText } from '../validate-text.ts';
import type { Person } from '../person.ts';
import { emailAddressSchema } from '../schema/email-address-schema.ts';
import { insertIdentity } from './add-identity.ts';
import type { VerifiedIdentity } from './identity.ts';

/** A new account for a user of a provider that allows sign-ups. */
interface IdentitySignUp {
  identity: VerifiedIdentity;
  username: string;
  displayName: string;
  /** The address verified by the provider; null without one. */
  verifiedAddress: string | null;
}

/**
 * Creates an account without a password, linked to the provider, in one transaction. An address verified by another
 * account stays with that account. Throws the errors of the rules of handles, including `handle_taken`;
 * `identity_in_use`.
 */
export async function signUpWithIdentity(deps: AccountsDeps, input: IdentitySignUp): Promise<Person> {
  const { display: username } = deps.owners.parseHandle(input.username);
  const displayName = cleanText(input.displayName, displayNameRule.maxCharacters);
  const prepared = await preparePerson(deps, { username, displayName });
  const address = readAddress(input.verifiedAddress);
  return deps.db.write(async (tx) => {
    const person = await insertPerson(deps, tx, prepared);
    await insertIdentity(deps, tx, person.id, input.identity);
    if (address === null || deps.noReply.isReserved(address.key)) return person;
    const taken = { addressKey: address.key, verifiedAt: isNotNull<number>() };
    if (!(await tx.manager.existsBy(emailAddressSchema, taken)))
      await insertAddress(deps, tx, person.id, { ...address, isVerified: true });
    return person;
  });
}
