import { inviteSchema } from '../schema/invite-schema.ts';
import { insertPerson, preparePerson } from '../people/add-person.ts';
import type { Person } from '../people/person.ts';
import { parsePassword } from '../password-rules.ts';
import type { AccountsDeps } from '../deps.ts';
import { checkInvite, findOpenInvite, signUpClosed } from './invites.ts';

export interface SignUpInput {
  /** The secret of the invite's link. */
  token: string;
  username: string;
  password: string;
  displayName?: string;
}

/**
 * Makes an account for somebody who was invited, and uses the invite up.
 * Refuses: `sign_up_closed` (not_found) without a working invite, whatever else
 * was sent; the rules of handles, passwords and texts, after which the invite
 * still works; `sign_in_busy`.
 */
export async function signUp(deps: AccountsDeps, input: SignUpInput): Promise<Person> {
  // Before anything else: strangers may not make us hash passwords.
  await checkInvite(deps, input.token);
  const { displayName = '' } = input;
  // Handle and password may be missing in other ways to join, not in this one.
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
