import type { Person } from '../../accounts/index.ts';
import type { Modules } from '../../app/index.ts';
import { isDomainError, notFound } from '../../kernel/index.ts';
import { withHint } from '../report-error.ts';

/** Finds a user by username, or by id for users without a username. */
export async function findPerson({ accounts, owners }: Modules, name: string): Promise<Person> {
  if (/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/.test(name)) return accounts.personById(name);
  try {
    return await accounts.personByUsername(name);
  } catch (error) {
    const id = isDomainError(error) && error.code === 'not_found' ? await owners.idOfHandle(name) : null;
    const now = id === null ? undefined : (await owners.ownersById([id])).get(id);
    if (now === undefined) throw error;
    // Former names are not resolved: the command might act on the wrong user.
    throw withHint(
      notFound(
        'unknown_person',
        now.kind === 'user' ? `${name} has been renamed to ${now.handle}.` : `${name} is an organisation.`,
      ),
      now.kind === 'user' ? `use the name ${now.handle}` : 'hearth org show shows it',
    );
  }
}

export function nameOf(person: Person | undefined): string {
  return person?.username ?? person?.id ?? '';
}
