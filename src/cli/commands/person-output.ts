import type { Person } from '../../accounts/index.ts';
import type { Modules } from '../../app/index.ts';
import { isoOrNull, never } from '../terminal/output.ts';
import type { Column } from '../terminal/output.ts';

/** A user in lists. */
type PersonRow = Person & { repositories: number };

export const columns: Column<PersonRow>[] = [
  { title: 'USERNAME', cell: (row) => row.username ?? row.id, whole: true },
  { title: 'NAME', cell: (row) => row.displayName },
  { title: 'ROLE', cell: roleOf },
  { title: 'LAST SEEN', cell: (row) => never(row.lastSeenAt) },
  { title: 'REPOS', cell: (row) => row.repositories, align: 'right' },
  { title: 'STATE', cell: stateOf },
];

export function roleOf(person: Person): string {
  return person.isAdministrator ? 'admin' : 'member';
}

export function stateOf(person: Person): string {
  return person.disabledAt === null ? 'active' : 'disabled';
}

export async function rowsOf({ repositories }: Modules, people: readonly Person[]): Promise<PersonRow[]> {
  const counts = new Map<string | null, number>();
  for (const { ownerUserId } of await repositories.listAll())
    counts.set(ownerUserId, (counts.get(ownerUserId) ?? 0) + 1);
  return people.map((person) => ({ ...person, repositories: counts.get(person.id) ?? 0 }));
}

export function personToJson(row: PersonRow): object {
  return {
    id: row.id,
    username: row.username,
    displayName: row.displayName,
    role: roleOf(row),
    lastSeenAt: isoOrNull(row.lastSeenAt),
    repositories: row.repositories,
    state: stateOf(row),
    createdAt: isoOrNull(row.createdAt),
    mustChangePassword: row.mustChangePassword,
    secondFactorSince: isoOrNull(row.secondFactorAt),
  };
}
