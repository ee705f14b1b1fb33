// drawWorld(random) → people, repositories and ties as facts.  store(db, world) writes them.
// drawViewers(world, random) → viewers of every kind over them.
import { anonymous, collaboratorRoles, localAdministrator, organisationRoles } from '../../src/access/index.ts';
import type {
  CollaboratorRole,
  OrganisationRole,
  PersonViewer,
  RepositoryFacts,
  Viewer,
} from '../../src/access/index.ts';
import type { Database } from '../../src/db/index.ts';
import type { SeededRandom } from '../fixtures/seeded-random.ts';
import { insertRow } from '../fixtures/test-database.ts';

export interface AccessData {
  people: string[];
  repositories: Omit<RepositoryFacts, 'organisationRole' | 'collaboratorRole' | 'teamRole'>[];
  /** By `organisation/person`. */
  members: Map<string, OrganisationRole>;
  /** By `repository/person`. */
  collaborators: Map<string, CollaboratorRole>;
  teams: { id: string; organisation: string; people: string[]; roles: Map<string, CollaboratorRole> }[];
}

/** The highest role that teams give a person on a repository. */
export function teamRoleIn({ teams }: AccessData, repositoryId: string, personId: string): CollaboratorRole | null {
  const roles = teams.flatMap(({ people, roles: given }) =>
    people.includes(personId) ? (given.get(repositoryId) ?? []) : [],
  );
  return (['admin', 'write', 'read'] as const).find((role) => roles.includes(role)) ?? null;
}

/** Draws a small society in which every kind of tie occurs, alone and together. */
export function generateAccessData(random: SeededRandom): AccessData {
  const people = Array.from({ length: 8 }, () => random.uuid());
  const organisations = Array.from({ length: 5 }, () => random.uuid());
  const accessData: AccessData = { people, repositories: [], members: new Map(), collaborators: new Map(), teams: [] };
  for (const organisation of organisations) {
    for (const person of people) {
      if (random.chance(0.4)) accessData.members.set(`${organisation}/${person}`, random.pick(organisationRoles));
    }
  }
  for (let count = 0; count < 120; count++) {
    const ofPerson = random.chance(0.5);
    const id = random.uuid();
    accessData.repositories.push({
      id,
      visibility: random.chance(0.4) ? 'PUBLIC' : 'PRIVATE',
      ownerUserId: ofPerson ? random.pick(people) : null,
      ownerOrganisationId: ofPerson ? null : random.pick(organisations),
      deleted: random.chance(0.15),
    });
    for (const person of people) {
      if (random.chance(0.12)) accessData.collaborators.set(`${id}/${person}`, random.pick(collaboratorRoles));
    }
  }
  for (const organisation of organisations) {
    const owned = accessData.repositories.filter(({ ownerOrganisationId }) => ownerOrganisationId === organisation);
    for (let count = 0; count < 4; count++) {
      const roles = new Map<string, CollaboratorRole>();
      for (const { id } of owned) if (random.chance(0.3)) roles.set(id, random.pick(collaboratorRoles));
      const inTeam = people.filter(() => random.chance(0.2));
      accessData.teams.push({ id: random.uuid(), organisation, people: inTeam, roles });
    }
  }
  return accessData;
}

export async function storeAccessData(db: Database, accessData: AccessData): Promise<void> {
  await db.write(async (tx) => {
    const times = { created_at: tx.now };
    for (const id of accessData.people) await insertRow(tx, 'users', { id, username: id, ...times });
    const organisations = new Set([...accessData.members.keys()].map((key) => key.split('/')[0]!));
    for (const { ownerOrganisationId: id } of accessData.repositories) if (id !== null) organisations.add(id);
    for (const id of organisations) await insertRow(tx, 'organisations', { id, name: id, ...times });
    for (const [key, role] of accessData.members) {
      const [organisation_id, user_id] = key.split('/');
      await insertRow(tx, 'organisation_members', { organisation_id, user_id, role, ...times });
    }
    for (const facts of accessData.repositories) {
      await insertRow(tx, 'repositories', {
        id: facts.id,
        owner_user_id: facts.ownerUserId,
        owner_org_id: facts.ownerOrganisationId,
        name: facts.id,
        name_folded: facts.id,
        visibility: facts.visibility,
        deleted_at: facts.deleted ? tx.now : null,
        updated_at: tx.now,
        ...times,
      });
    }
    for (const [key, role] of accessData.collaborators) {
      const [repository_id, user_id] = key.split('/');
      await insertRow(tx, 'collaborators', { repository_id, user_id, role, ...times });
    }
    for (const { id, organisation, people, roles } of accessData.teams) {
      if (!organisations.has(organisation)) continue;
      const named = { name: id, name_folded: id, role: 'read' };
      await insertRow(tx, 'teams', { id, organisation_id: organisation, ...named, ...times });
      for (const user_id of people) await insertRow(tx, 'team_members', { team_id: id, user_id, ...times });
      for (const [repository_id, role] of roles)
        await insertRow(tx, 'team_repositories', { team_id: id, repository_id, role, ...times });
    }
  });
}

export function generateViewers(accessData: AccessData, random: SeededRandom): Viewer[] {
  const ids = accessData.repositories.map((repository) => repository.id);
  const some = () => ids.filter(() => random.chance(0.3));
  const viewers: Viewer[] = [anonymous, localAdministrator];
  for (const repositoryId of [...ids.slice(0, 20), random.uuid()]) {
    viewers.push({ kind: 'task', taskId: 1, repositoryId, scope: random.pick(['read', 'write']) });
    const scope = random.pick(['read', 'write'] as const);
    viewers.push({ kind: 'deployKey', id: random.uuid(), title: 'robot', repositoryId, scope });
  }
  for (const id of [...accessData.people, random.uuid()]) {
    for (const scope of ['read', 'write', 'admin'] as const) {
      const person: PersonViewer = {
        kind: 'person',
        id,
        username: id,
        isAdministrator: random.chance(0.3),
        via: 'token',
        scope,
        repositoryIds: null,
      };
      viewers.push(person, { ...person, repositoryIds: [] }, { ...person, repositoryIds: some() });
      viewers.push({ ...person, repositoryIds: [...some(), random.uuid(), "' OR 1 = 1 --"] });
    }
  }
  return viewers;
}
