import { In } from 'typeorm';
import type { EntityManager } from 'typeorm';
import { viewerForLog } from '../../access/index.ts';
import type { CollaboratorRole, Viewer } from '../../access/index.ts';
import { bindDeps, conflict, notFound } from '../../kernel/index.ts';
import { parseTeamRole, teamLimits } from '../../organisations/index.ts';
import type { Team, TeamAddress } from '../../organisations/index.ts';
import { bindRepositoryDeps } from '../bind-repository-deps.ts';
import type { RepositoryDeps } from '../deps.ts';
import { findAgain, findRepository, repositoryNotFound } from '../find-repository.ts';
import type { RepositoryAddress } from '../find-repository.ts';
import { listByIds } from '../list-repositories.ts';
import type { ListedRepository } from '../list-repositories.ts';
import { teamRepositorySchema } from '../schema/team-repository-schema.ts';

/** A team's repository, with the role of its members there. */
export interface TeamRepository {
  repository: ListedRepository;
  role: CollaboratorRole;
}

/** A team with a role in a repository. */
interface TeamOfRepository {
  team: Team;
  role: CollaboratorRole;
}

/** The team's repositories that the viewer can read, sorted by name. Throws `team_not_found`. */
async function listOfTeam(deps: RepositoryDeps, viewer: Viewer, at: TeamAddress | number): Promise<TeamRepository[]> {
  const { team } = await deps.organisations.teams.find(viewer, at);
  const rows = await deps.db.read.findBy(teamRepositorySchema, { teamId: team.id });
  const roles = new Map(rows.map(({ repositoryId, role }) => [repositoryId, role]));
  const repositories = await listByIds(deps, viewer, [...roles.keys()]);
  return repositories
    .map((repository) => ({ repository, role: roles.get(repository.id)! }))
    .sort((a, b) => (a.repository.name.toLowerCase() < b.repository.name.toLowerCase() ? -1 : 1));
}

/**
 * The teams with a role in a repository, sorted by name. Omits teams hidden from the viewer. Throws
 * `repository_not_found` unless the viewer administers it.
 */
async function listOfRepository(
  deps: RepositoryDeps,
  viewer: Viewer,
  at: RepositoryAddress,
): Promise<TeamOfRepository[]> {
  const { repository, owner } = await findRepository(deps, viewer, at, 'admin');
  if (owner.kind !== 'organisation') return [];
  const rows = await deps.db.read.findBy(teamRepositorySchema, { repositoryId: repository.id });
  const roles = new Map(rows.map(({ teamId, role }) => [teamId, role]));
  if (roles.size === 0) return [];
  const teams = await deps.organisations.teams.list(viewer, owner.handle).catch(() => []);
  return teams.flatMap(({ people: _, ...team }) => {
    const role = roles.get(team.id);
    return role === undefined ? [] : [{ team, role }];
  });
}

/**
 * Gives a team a role in a repository of its organisation, or changes it. Throws `team_not_found` for everyone but an
 * OWNER, `repository_not_found` also for other owners' repositories; `invalid_role`, `too_many_team_repositories`.
 * @param role null for the team's default role
 */
async function setRole(
  deps: RepositoryDeps,
  viewer: Viewer,
  at: TeamAddress | number,
  address: RepositoryAddress,
  role: string | null,
): Promise<void> {
  const { team } = await deps.organisations.teams.find(viewer, at, 'manage');
  const { repository } = await findRepository(deps, viewer, address, 'admin');
  if (repository.ownerOrganisationId !== team.organisationId) throw repositoryNotFound();
  const wanted = role === null ? team.role : parseTeamRole(role);
  const key = { teamId: team.id, repositoryId: repository.id };
  await deps.db.write(async (tx) => {
    await deps.organisations.teams.requireInWrite(tx.manager, viewer, team, 'manage');
    const row = await findAgain(deps, tx, viewer, repository.id, 'admin');
    if (row.ownerOrganisationId !== team.organisationId) throw repositoryNotFound();
    const isThere = await tx.manager.existsBy(teamRepositorySchema, key);
    if (!isThere && (await tx.manager.countBy(teamRepositorySchema, { teamId: team.id })) >= teamLimits.repositories)
      throw conflict('too_many_team_repositories', `A team can have at most ${teamLimits.repositories} repositories.`);
    if (isThere) await tx.manager.update(teamRepositorySchema, key, { role: wanted });
    else await tx.manager.insert(teamRepositorySchema, { ...key, role: wanted, createdAt: tx.now });
  });
  deps.logger.info('team.repository_set', { ...key, role: wanted, by: viewerForLog(viewer) });
}

/**
 * Removes a team's role in a repository. Throws `team_not_found` for everyone but an OWNER, `repository_not_found`,
 * `team_repository_not_found`.
 */
async function removeRole(
  deps: RepositoryDeps,
  viewer: Viewer,
  at: TeamAddress | number,
  address: RepositoryAddress,
): Promise<void> {
  const { team } = await deps.organisations.teams.find(viewer, at, 'manage');
  const { repository } = await findRepository(deps, viewer, address);
  const key = { teamId: team.id, repositoryId: repository.id };
  const { affected } = await deps.db.write(async (tx) => {
    await deps.organisations.teams.requireInWrite(tx.manager, viewer, team, 'manage');
    return tx.manager.delete(teamRepositorySchema, key);
  });
  if (affected !== 1) throw notFound('team_repository_not_found', 'The team has no role in this repository.');
  deps.logger.info('team.repository_removed', { ...key, by: viewerForLog(viewer) });
}

/** Number of repositories per team, including hidden ones, for team lists. Only for OWNERs. */
async function countOfTeams(deps: RepositoryDeps, teamIds: readonly string[]): Promise<Map<string, number>> {
  if (teamIds.length === 0) return new Map();
  const rows = await deps.db.read.findBy(teamRepositorySchema, { teamId: In([...teamIds]) });
  return new Map([...Map.groupBy(rows, ({ teamId }) => teamId)].map(([id, of]) => [id, of.length]));
}

/**
 * Those of some teams that have a role in a repository. No access check: for policies, never for a page.
 * @param source of the dependent transaction
 */
async function withRole(
  { db }: RepositoryDeps,
  repositoryId: string,
  teamIds: readonly string[],
  source: EntityManager = db.read,
): Promise<Set<string>> {
  if (teamIds.length === 0) return new Set();
  const rows = await source.findBy(teamRepositorySchema, { repositoryId, teamId: In([...teamIds]) });
  return new Set(rows.map(({ teamId }) => teamId));
}

/** Roles of teams in repositories. */
export function createTeamRepositoryService(deps: RepositoryDeps) {
  const bind = bindDeps(deps);
  const bindAt = bindRepositoryDeps(deps);
  return {
    listOfTeam: bind(listOfTeam),
    listOfRepository: bindAt(listOfRepository),
    setRole: bind(setRole),
    removeRole: bind(removeRole),
    countOfTeams: bind(countOfTeams),
    withRole: bind(withRole),
  };
}
