import type { Person } from '../../accounts/index.ts';
import type { Rooms } from '../../app.ts';

/** Finds a person by user name, or by id: those who have no user name yet. */
export function findPerson({ accounts }: Rooms, name: string): Promise<Person> {
  return /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/.test(name) ? accounts.personById(name) : accounts.personByUsername(name);
}

export function nameOf(person: Person | undefined): string {
  return person?.username ?? person?.id ?? '';
}
