import { In } from 'typeorm';
import type { OrganisationRole, Viewer } from '../access/index.ts';
import type { PeopleOptions, Person } from '../accounts/index.ts';
import type { KeysetPage } from '../db/index.ts';
import { findManaged } from './find-organisation.ts';
import { memberSchema } from './member-schema.ts';
import type { OrganisationDeps } from './deps.ts';

export interface Member {
  person: Person;
  role: OrganisationRole;
  /** Epoch milliseconds. */
  since: number;
}

/**
 * All members with their roles, sorted by handle; for the command line. Throws `organisation_not_found` for everyone
 * but an OWNER (SPEC §4.4).
 */
export async function listMembers(deps: OrganisationDeps, viewer: Viewer, name: string): Promise<Member[]> {
  const organisation = await findManaged(deps, viewer, name);
  const rows = await deps.db.read.findBy(memberSchema, { organisationId: organisation.id });
  const people = await deps.accounts.peopleById(rows.map(({ userId }) => userId));
  const members = rows.flatMap(({ userId, role, createdAt }) => {
    const person = people.get(userId);
    return person === undefined ? [] : [{ person, role, since: createdAt }];
  });
  const key = ({ person }: Member) => (person.username ?? '').toLowerCase();
  return members.sort((a, b) => (key(a) < key(b) ? -1 : 1));
}

/** One page of the members, sorted by handle, and the number of OWNERs, where 2 means two or more. */
interface MembersPage extends Omit<KeysetPage<Member>, 'rows'> {
  members: Member[];
  owners: number;
  /** Null if there are too many to count. */
  total: number | null;
}

/**
 * The members whose handle begins with `prefix`, sorted by handle, in pages. Throws `organisation_not_found` for
 * everyone but an OWNER (SPEC §4.4).
 */
export async function listMembersPage(
  deps: OrganisationDeps,
  viewer: Viewer,
  name: string,
  options: PeopleOptions,
): Promise<MembersPage> {
  const { id: organisationId } = await findManaged(deps, viewer, name);
  const { people, next, previous, total } = await deps.accounts.listPeopleAmong(
    { table: 'organisation_members', column: 'organisation_id', id: organisationId },
    options,
  );
  const [rows, owners] = await Promise.all([
    deps.db.read.findBy(memberSchema, { organisationId, userId: In(people.map(({ id }) => id)) }),
    deps.db.read.find(memberSchema, { where: { organisationId, role: 'OWNER' }, take: 2 }),
  ]);
  const byId = new Map(rows.map((row) => [row.userId, row]));
  return {
    members: people.flatMap((person) => {
      const row = byId.get(person.id);
      return row === undefined ? [] : [{ person, role: row.role, since: row.createdAt }];
    }),
    next,
    previous,
    owners: owners.length,
    total,
  };
}
