import type { OrganisationRole, Viewer } from '../access/index.ts';
import type { Person } from '../accounts/index.ts';
import { findManaged } from './find-organisation.ts';
import { memberSchema } from './member-schema.ts';
import type { OrganisationRoom } from './room.ts';

export interface Member {
  person: Person;
  role: OrganisationRole;
  /** Epoch milliseconds. */
  since: number;
}

/**
 * The members with their roles, by handle. Refuses `organisation_not_found` to
 * everyone but an OWNER (SPEC §4.4).
 */
export async function listMembers(room: OrganisationRoom, viewer: Viewer, name: string): Promise<Member[]> {
  const organisation = await findManaged(room, viewer, name);
  const rows = await room.db.read.findBy(memberSchema, { organisationId: organisation.id });
  const people = await room.accounts.peopleById(rows.map(({ userId }) => userId));
  const members = rows.flatMap(({ userId, role, createdAt }) => {
    const person = people.get(userId);
    return person === undefined ? [] : [{ person, role, since: createdAt }];
  });
  const key = ({ person }: Member) => (person.username ?? '').toLowerCase();
  return members.sort((a, b) => (key(a) < key(b) ? -1 : 1));
}
