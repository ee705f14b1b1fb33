import { In } from 'typeorm';
import type { IssueDeps } from '../deps.ts';
import type { EntryDetails } from '../entries/entry.ts';
import { issueSchema } from '../schema/issue-schema.ts';

/** A person in an export: the name is what is read, the id is what the same instance recognises. */
export interface PortablePerson {
  name: string;
  id?: string;
}

/** Names of people, asked once for each page of a log. */
export class PeopleNames {
  readonly #deps: Pick<IssueDeps, 'accounts'>;
  readonly #withIds: boolean;
  #names = new Map<string, string>();

  constructor(deps: Pick<IssueDeps, 'accounts'>, withIds: boolean) {
    this.#deps = deps;
    this.#withIds = withIds;
  }

  /** Makes the names of these people known; those of earlier calls may be forgotten. */
  async read(ids: Iterable<string | null>): Promise<void> {
    const unique = new Set([...ids].filter((id) => id !== null));
    const people = await this.#deps.accounts.peopleById(unique);
    this.#names = new Map([...people].flatMap(([id, { username }]) => (username === null ? [] : [[id, username]])));
  }

  /** Null for a person who is gone. */
  of(id: string | null): PortablePerson | null {
    const name = id === null ? undefined : this.#names.get(id);
    if (name === undefined || id === null) return null;
    return this.#withIds ? { name, id } : { name };
  }

  ofAll(ids: readonly string[]): PortablePerson[] {
    return ids.flatMap((id) => this.of(id) ?? []);
  }
}

/** Ids of people in the details of an entry. */
export const peopleIn = ({ users, userId }: EntryDetails): string[] =>
  [...(Array.isArray(users) ? users : []), userId].filter((id) => typeof id === 'string');

/** Id of another issue in the details of an entry. */
export const issueIn = ({ issueId }: EntryDetails): string | null => (typeof issueId === 'string' ? issueId : null);

/** Numbers of issues by id, of one repository alone: an issue of another repository may be hidden from the reader. */
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
 * The details of an entry with names and numbers for ids; null for an entry about an issue that is not in the export.
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
    /** Of an export of the whole repository, by id; null for readers, who are told that it is a team. */
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
  // A commit of another repository says nothing here.
  if (typeof rest['commit'] === 'string' && commitIn !== repositoryId) delete rest['commit'];
  return {
    ...rest,
    ...(_users === undefined ? {} : { people: [...people.ofAll(peopleIn({ users: _users })), ...named(names)] }),
    ...(typeof userId === 'string' ? { person: people.of(userId) } : {}),
    // Who was no account where this was imported.
    ...(typeof userName === 'string' ? { person: { name: userName } } : {}),
    ...(number === undefined ? {} : { number }),
    ...(typeof teamId === 'string' ? { team: teams?.get(teamId) ?? null } : {}),
    ...(teamName === undefined
      ? {}
      : { team: teams !== null && typeof teamName === 'string' ? { name: teamName } : null }),
  };
}
