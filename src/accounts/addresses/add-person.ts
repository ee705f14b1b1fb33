import type { AccountsDeps } from '../deps.ts';
import { insertPerson, preparePerson } from '../people/insert-person.ts';
import type { NewPerson } from '../people/insert-person.ts';
import type { Person } from '../person.ts';
import { insertAddress, parseNewAddress } from './add-address.ts';

/**
 * Creates an account without an invitation, for example by `hearth user add`. Throws the errors of the rules of handles
 * (`handle_taken` included), of passwords and of texts; with an address `invalid_address`, `reserved_address`,
 * `address_in_use`.
 */
export async function addPerson(deps: AccountsDeps, input: NewPerson): Promise<Person> {
  const parsed = input.address === undefined ? null : parseNewAddress(deps, input.address);
  const prepared = await preparePerson(deps, input);
  return deps.db.write(async (tx) => {
    const person = await insertPerson(deps, tx, prepared);
    if (parsed !== null) await insertAddress(deps, tx, person.id, { ...parsed, isVerified: true });
    return person;
  });
}
