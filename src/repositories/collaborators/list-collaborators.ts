import { In } from 'typeorm';
import { describeAccessGrant, accessGrantsOf } from '../../access/index.ts';
import type { CollaboratorRole, Level, AccessGrant, Viewer } from '../../access/index.ts';
import type { PeopleOptions, Person } from '../../accounts/index.ts';
import type { KeysetPage } from '../../db/index.ts';
import { findRepository, repositoryFacts } from '../find-repository.ts';
import type { RepositoryAddress } from '../find-repository.ts';
import type { Repository } from '../schema/repository-schema.ts';
import type { RepositoryDeps } from '../deps.ts';
import { collaboratorSchema } from '../schema/collaborator-schema.ts';

/** A user's access to a repository, and the grants it comes from. */
export interface ExplainedAccess {
  level: Level;
  /** All grants, the strongest first. */
  grants: AccessGrant[];
  /** The deciding grant: `owner`, `organisation MEMBER`, `collaborator write`, `anyone`; `null` without access. */
  reason: string | null;
}

export interface Collaborator {
  person: Person;
  /** Role as a collaborator; the effective access may be higher. */
  role: CollaboratorRole;
  /** Epoch milliseconds. */
  since: number;
  access: ExplainedAccess;
}

/**
 * All collaborators with their effective access, sorted by handle; for the command line. Throws `repository_not_found`
 * unless the viewer administers the repository.
 */
export async function listCollaborators(
  deps: RepositoryDeps,
  viewer: Viewer,
  at: RepositoryAddress,
): Promise<Collaborator[]> {
  const { repository } = await findRepository(deps, viewer, at, 'admin');
  const rows = await deps.db.read.findBy(collaboratorSchema, { repositoryId: repository.id });
  const people = await deps.accounts.peopleById(rows.map(({ userId }) => userId));
  const collaborators: Collaborator[] = [];
  for (const { userId, role, createdAt } of rows) {
    const person = people.get(userId);
    if (person === undefined) continue;
    collaborators.push({ person, role, since: createdAt, access: await explain(deps, repository, userId) });
  }
  const key = ({ person }: Collaborator) => (person.username ?? '').toLowerCase();
  return collaborators.sort((a, b) => (key(a) < key(b) ? -1 : 1));
}

/** One page of collaborators, sorted by handle. */
interface CollaboratorsPage extends Omit<KeysetPage<Collaborator>, 'rows'> {
  collaborators: Collaborator[];
  /** Null if there are too many to count. */
  total: number | null;
}

/**
 * Lists the collaborators whose handle begins with `prefix`, sorted by handle, in pages. Throws `repository_not_found`
 * unless the viewer administers the repository.
 */
export async function listCollaboratorsPage(
  deps: RepositoryDeps,
  viewer: Viewer,
  at: RepositoryAddress,
  options: PeopleOptions,
): Promise<CollaboratorsPage> {
  const { repository } = await findRepository(deps, viewer, at, 'admin');
  const { people, next, previous, total } = await deps.accounts.listPeopleAmong(
    { table: 'collaborators', column: 'repository_id', id: repository.id },
    options,
  );
  const userId = In(people.map(({ id }) => id));
  const rows = await deps.db.read.findBy(collaboratorSchema, { repositoryId: repository.id, userId });
  const byId = new Map(rows.map((row) => [row.userId, row]));
  const collaborators: Collaborator[] = [];
  for (const person of people) {
    const row = byId.get(person.id);
    if (row === undefined) continue;
    const access = await explain(deps, repository, person.id);
    collaborators.push({ person, role: row.role, since: row.createdAt, access });
  }
  return { collaborators, next, previous, total };
}

/** The viewer's access to a repository as a user, ignoring limits of the credential. Throws `repository_not_found`. */
export async function explainAccess(
  deps: RepositoryDeps,
  viewer: Viewer,
  at: RepositoryAddress,
): Promise<ExplainedAccess> {
  const { repository } = await findRepository(deps, viewer, at);
  return explain(deps, repository, viewer.kind === 'person' ? viewer.id : null);
}

async function explain(
  deps: RepositoryDeps,
  repository: Repository,
  personId: string | null,
): Promise<ExplainedAccess> {
  const facts = await repositoryFacts(deps, deps.db.lookup, personId, repository);
  const accessGrants = personId === null ? [] : accessGrantsOf(personId, facts);
  const [strongest] = accessGrants;
  if (strongest !== undefined)
    return { level: strongest.level, grants: accessGrants, reason: describeAccessGrant(strongest) };
  return repository.visibility === 'PUBLIC'
    ? { level: 'read', grants: accessGrants, reason: 'anyone' }
    : { level: 'none', grants: accessGrants, reason: null };
}
