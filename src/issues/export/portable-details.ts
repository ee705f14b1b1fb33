import { In } from 'typeorm';
import type { IssueDeps } from '../deps.ts';
import type { EntryDetails } from '../entry.ts';
import { issueSchema } from '../schema/issue-schema.ts';

/** A user in an export: readers see the name, and the same instance recognises the id. */
export interface PortablePerson {
  name: string;
  id?: string;
}

/** User names, queried once per page of a log. */
export class PeopleNames {
  readonly #deps: Pick<IssueDeps, 'accounts'>;
  readonly #withIds: boolean;
  #names = new Map<string, string>();

  constructor(deps: Pick<IssueDeps, 'accounts'>, withIds: boolean) {
    this.#deps = deps;
    this.#withIds = withIds;
  }

  /** Loads the names of these users; may drop those of earlier calls. */
  async read(ids: Iterable<string | null>): Promise<void> {
    const unique = new Set([...ids].filter((id) => id !== null));
    const people = await this.#deps.accounts.peopleById(unique);
    this.#names = new Map([...people].flatMap(([id, { username }]) => (username === null ? [] : [[id, username]])));
  }

  /** Null for a deleted user. */
  of(id: string | null): PortablePerson | null {
    const name = id === null ? undefined : this.#names.get(id);
    if (name === undefined || id === null) return null;
    return this.#withIds ? { name, id } : { name };
  }

  ofAll(ids: readonly string[]): PortablePerson[] {
    return ids.flatMap((id) => this.of(id) ?? []);
  }
}

/** User ids in the details of an entry. */
export const peopleIn = ({ users, userId }: EntryDetails): string[] =>
  [...(Array.isArray(users) ? users : []), userId].filter((id) => typeof id === 'string');

/** Id of another issue in the details of an entry. */
export const issueIn = ({ issueId }: EntryDetails): string | null => (typeof issueId === 'string' ? issueId : null);

/** Issue numbers by id, only of one repository: an issue of another one may be hidden from the reader. */
export async function numbersOf(
  { db }: Pick<IssueDeps, 'db'>,
  repositoryId: string,
  ids: readonly string[],
): Promise<Map<string, number>> {
  if (ids.length === 0) return new Map();
  const rows = await db.read.findBy(issueSchema, { id: In([...new Set(ids)]), repositoryId });
  return new Map(
    rows.filter(({ deletedAt, heldAt }) => deletedAt === null && heldAt === null).map(({ id, number }) => [id, number]),
  );
}

const named = (names: unknown): PortablePerson[] =>
  Array.isArray(names) ? names.filter((name) => typeof name === 'string').map((name) => ({ name })) : [];

/**
 * The details of an entry with names and numbers in place of ids; null for an entry about an issue that is not in the
 * export.
 */
export function portableDetails(
  details: EntryDetails,
  {
    people,
    numbers,
    repositoryId,
    teams,
  }: {
    people: PeopleNames;
    numbers: ReadonlyMap<string, number>;
    repositoryId: string;
    /** Team names by id, for the export of a whole repository; null for readers, who only see that it is a team. */
    teams: ReadonlyMap<string, PortablePerson> | null;
  },
): EntryDetails | null {
  const {
    users: _users,
    names,
    userId,
    userName,
    issueId: _issueId,
    position: _position,
    repositoryId: commitIn,
    teamId,
    teamName,
    ...rest
  } = details;
  const other = issueIn(details);
  const number = other === null ? undefined : numbers.get(other);
  if (other !== null && number === undefined) return null;
  // A commit of another repository is meaningless here.
  if (typeof rest['commit'] === 'string' && commitIn !== repositoryId) delete rest['commit'];
  return {
    ...rest,
    ...(_users === undefined ? {} : { people: [...people.ofAll(peopleIn({ users: _users })), ...named(names)] }),
    ...(typeof userId === 'string' ? { person: people.of(userId) } : {}),
    // Authors without an account on the importing server.
    ...(typeof userName === 'string' ? { person: { name: userName } } : {}),
    ...(number === undefined ? {} : { number }),
    ...(typeof teamId === 'string' ? { team: teams?.get(teamId) ?? null } : {}),
    ...(teamName === undefined
      ? {}
      : { team: teams !== null && typeof teamName === 'string' ? { name: teamName } : null }),
  };
}
