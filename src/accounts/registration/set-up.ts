import { Not } from 'typeorm';
import { insertPerson, preparePerson } from '../people/insert-person.ts';
import type { Person } from '../person.ts';
import { parsePassword } from '../password-rules.ts';
import type { AccountsDeps } from '../deps.ts';
import { setupTokenSchema } from '../schema/setup-token-schema.ts';
import { checkSetupToken, findOpenToken, setupClosed } from './setup-token.ts';

interface SetUpInput {
  token: string;
  username: string;
  password: string;
  displayName?: string;
}

/**
 * Creates the first administrator. Of several concurrent calls one succeeds, and no setup token works afterwards.
 * Throws `setup_closed` (not_found) without a valid token, whatever the other fields; the errors of the rules of
 * handles, passwords and texts, after which the token still works; `sign_in_busy`.
 */
export async function setUp(deps: AccountsDeps, input: SetUpInput): Promise<Person> {
  // Comes first, so that anonymous clients cannot cause password hashing.
  await checkSetupToken(deps, input.token);
  const { displayName = '' } = input;
  // Handle and password are optional in `preparePerson`, but required here.
  const username = deps.owners.parseHandle(input.username).display;
  const password = parsePassword(input.password);
  const prepared = await preparePerson(deps, { username, password, displayName, isAdministrator: true });

  return deps.db.write(async (tx) => {
    const tokenHash = await findOpenToken(tx.manager, input.token, tx.now);
    if (tokenHash === null) throw setupClosed();
    await tx.manager.update(setupTokenSchema, { tokenHash }, { usedAt: tx.now });
    await tx.manager.delete(setupTokenSchema, { tokenHash: Not(tokenHash) });
    return insertPerson(deps, tx, prepared);
  });
}
