import { inviteSchema } from '../schema/invite-schema.ts';
import { insertPerson, preparePerson } from '../people/insert-person.ts';
import type { Person } from '../person.ts';
import { parsePassword } from '../password-rules.ts';
import type { AccountsDeps } from '../deps.ts';
import { hashSecret } from '../secret.ts';
import type { InviteRow } from '../schema/invite-schema.ts';
import { emailAddressSchema } from '../schema/email-address-schema.ts';
import { insertAddress } from '../addresses/add-address.ts';
import { readAddress } from '../addresses/address-rules.ts';
import { isNotNull } from '../../db/index.ts';
import type { Tx } from '../../db/index.ts';
import { checkInvite, findOpenInvite, signUpClosed } from './invites.ts';

interface SignUpInput {
  /** The secret of the invitation link. */
  token: string;
  username: string;
  password: string;
  displayName?: string;
}

/**
 * Creates an account from an invitation and consumes the invitation. Throws `sign_up_closed` (not_found) without an
 * open invitation, whatever the other fields; the errors of the rules of handles, passwords and texts, after which the
 * invitation still works; `sign_in_busy`.
 */
export async function signUp(deps: AccountsDeps, input: SignUpInput): Promise<Person> {
  // Comes first, so that anonymous clients cannot cause password hashing.
  await checkInvite(deps, input.token);
  const { displayName = '' } = input;
  // Handle and password are optional in `preparePerson`, but required here.
  const username = deps.owners.parseHandle(input.username).display;
  const password = parsePassword(input.password);
  const prepared = await preparePerson(deps, { username, password, displayName });

  return deps.db.write(async (tx) => {
    const invite = await findOpenInvite(tx.manager, input.token, tx.now);
    if (invite === null) throw signUpClosed();
    const person = await insertPerson(deps, tx, prepared);
    await tx.manager.update(inviteSchema, { id: invite.id }, { usedAt: tx.now, usedBy: person.id });
    await addInvitedAddress(deps, tx, person.id, invite, input.token);
    const { organisationId, organisationRole: role, createdBy: invitedBy } = invite;
    if (organisationId !== null && role !== null) {
      for (const hook of deps.signUpHooks) await hook(tx, person.id, { organisationId, role, invitedBy });
    }
    return person;
  });
}

/**
 * The new account gets the address of the invitation: verified if the mailed link was used, which only the reader of
 * the mailbox has. Another account that verified it since the invitation was sent keeps it.
 */
async function addInvitedAddress(
  deps: AccountsDeps,
  tx: Tx,
  personId: string,
  { address, mailedTokenHash }: InviteRow,
  token: string,
): Promise<void> {
  const parsed = readAddress(address);
  if (parsed === null) return;
  const isTaken = await tx.manager.existsBy(emailAddressSchema, { addressKey: parsed.key, verifiedAt: isNotNull() });
  const isVerified = !isTaken && mailedTokenHash === hashSecret(token);
  await insertAddress(deps, tx, personId, { ...parsed, isVerified });
}
