import { inviteSchema } from '../schema/invite-schema.ts';
import { insertPerson, preparePerson } from '../people/add-person.ts';
import type { Person } from '../people/person.ts';
import { parsePassword } from '../password-rules.ts';
import type { AccountsDeps } from '../deps.ts';
import { checkInvite, findOpenInvite, signUpClosed } from './invites.ts';

export interface SignUpInput {
  /** The secret of the invitation's link. */
  token: string;
  username: string;
  password: string;
  displayName?: string;
}

/**
 * Makes an account from an invitation and uses the invitation up. Refuses: `sign_up_closed` (not_found) without an open
 * invitation, whatever the other fields; the rules of handles, passwords and texts, after which the invitation still
 * works; `sign_in_busy`.
 */
export async function signUp(deps: AccountsDeps, input: SignUpInput): Promise<Person> {
  // First, so that anonymous clients cannot cause password hashing.
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
    return person;
  });
}
