import { Not } from 'typeorm';
import type { EntityManager } from 'typeorm';
import { scopeAllows, viewerForLog } from '../../access/index.ts';
import type { CollaboratorRole, Viewer } from '../../access/index.ts';
import { conflict, invalid, notFound } from '../../kernel/index.ts';
import { announceAccess, personToAdd } from '../add-member.ts';
import type { OrganisationDeps } from '../deps.ts';
import { findManaged, insufficientScope, refuseUnlessOwner } from '../find-organisation.ts';
import { findTeam, teamInWrite, toTeam } from './find-team.ts';
import type { TeamAddress } from './find-team.ts';
import { parseTeamDescription, parseTeamName, parseTeamRole, teamLimits } from './team.ts';
import type { Team } from './team.ts';
import { teamMemberSchema, teamSchema, teamSerialSchema } from './team-schema.ts';
import type { TeamRow } from './team-schema.ts';

/** Team fields from a form or an API call; omitted fields stay. */
interface TeamEdit {
  name?: string | undefined;
  description?: string | undefined;
  /** Default role for added repositories: read, write or admin, ignoring case. */
  role?: string | undefined;
}

const taken = (name: string) => conflict('team_name_taken', `A team named ${name} already exists.`, { field: 'name' });

/**
 * Creates a team without members and repositories. Throws `organisation_not_found` for everyone but an OWNER;
 * `insufficient_scope`; `invalid_team_name`, `team_name_taken`, `invalid_role`, `too_many_teams`, `invalid_text`,
 * `text_too_long`.
 */
export async function createTeam(
  deps: OrganisationDeps,
  viewer: Viewer,
  organisation: string,
  input: TeamEdit & { name: string },
): Promise<Team> {
  const { id: organisationId } = await findManaged(deps, viewer, organisation);
  const names = parseTeamName(input.name);
  const description = parseTeamDescription(input.description ?? '');
  const role: CollaboratorRole = parseTeamRole(input.role ?? 'read');
  const row = { id: deps.random.uuid(), organisationId, ...names, description, role };
  const team = await deps.db.write(async ({ manager, now }) => {
    await refuseUnlessOwner(manager, viewer, organisationId);
    if ((await manager.countBy(teamSchema, { organisationId })) >= teamLimits.teams)
      throw conflict('too_many_teams', `An organisation can have at most ${teamLimits.teams} teams.`);
    if (await manager.existsBy(teamSchema, { organisationId, nameFolded: names.nameFolded })) throw taken(names.name);
    const made: TeamRow = { ...row, createdAt: now };
    await manager.insert(teamSchema, made);
    const { serial } = await manager.findOneByOrFail(teamSerialSchema, { teamId: row.id });
    return toTeam(made, serial);
  });
  deps.logger.info('team.created', { ...about(team), name: team.name, role, by: viewerForLog(viewer) });
  return team;
}

/**
 * Changes name, description and default role. Mentions and code owners files with the old name stop working; branch
 * rules keep working. Throws `team_not_found` for everyone but an OWNER; what `createTeam` throws.
 */
export async function editTeam(
  deps: OrganisationDeps,
  viewer: Viewer,
  at: TeamAddress | number,
  { name, description, role }: TeamEdit,
): Promise<Team> {
  const { team } = await findTeam(deps, viewer, at, 'manage');
  const names = name === undefined ? null : parseTeamName(name);
  const change = {
    ...names,
    ...(description === undefined ? {} : { description: parseTeamDescription(description) }),
    ...(role === undefined ? {} : { role: parseTeamRole(role) }),
  };
  if (Object.keys(change).length === 0) return team;
  const after = await deps.db.write(async ({ manager }) => {
    const { organisationId } = await teamInWrite(manager, viewer, team);
    if (
      names !== null &&
      (await manager.existsBy(teamSchema, { organisationId, nameFolded: names.nameFolded, id: Not(team.id) }))
    )
      throw taken(names.name);
    await manager.update(teamSchema, { id: team.id }, change);
    return manager.findOneByOrFail(teamSchema, { id: team.id });
  });
  deps.logger.info('team.edited', { ...about(team), ...change, by: viewerForLog(viewer) });
  return toTeam(after, team.serial);
}

/**
 * Deletes a team with the access it gave: roles, and entries in branch rules. Throws `team_not_found` for everyone but
 * an OWNER.
 */
export async function deleteTeam(deps: OrganisationDeps, viewer: Viewer, at: TeamAddress | number): Promise<void> {
  const { team } = await findTeam(deps, viewer, at, 'manage');
  await deps.db.write(async ({ manager }) => {
    await teamInWrite(manager, viewer, team);
    await manager.delete(teamSchema, { id: team.id });
  });
  deps.logger.info('team.deleted', { ...about(team), name: team.name, by: viewerForLog(viewer) });
}

/**
 * Adds a user, who need not be a member of the organisation and does not become one: they get only the team's access.
 * Throws `team_not_found` for everyone but an OWNER; `no_such_person`, `person_disabled`, `already_team_member`,
 * `too_many_team_members`.
 */
export async function addTeamMember(
  deps: OrganisationDeps,
  viewer: Viewer,
  at: TeamAddress | number,
  username: string,
): Promise<void> {
  const { team, organisation } = await findTeam(deps, viewer, at, 'manage');
  const person = await personToAdd(deps, username);
  const member = { teamId: team.id, userId: person.id };
  await deps.db.write(async (tx) => {
    const { manager, now } = tx;
    await teamInWrite(manager, viewer, team);
    if (await manager.existsBy(teamMemberSchema, member))
      throw conflict('already_team_member', `${person.username} is already in this team.`, { field: 'username' });
    if ((await manager.countBy(teamMemberSchema, { teamId: team.id })) >= teamLimits.people)
      throw invalid('too_many_team_members', `A team can have at most ${teamLimits.people} members.`, {
        field: 'username',
      });
    await manager.insert(teamMemberSchema, { ...member, createdAt: now });
    const place = { kind: 'team' as const, id: team.id, organisation: organisation.name, name: team.name };
    await announceAccess(deps, tx, viewer, { userId: person.id, place, role: null });
  });
  deps.logger.info('team.member_added', { ...about(team), userId: person.id, by: viewerForLog(viewer) });
}

const memberNotFound = () => notFound('team_member_not_found', 'There is no such person in this team.');

/** Removes a user from a team. Throws `team_not_found` for everyone but an OWNER; `team_member_not_found`. */
export async function removeTeamMember(
  deps: OrganisationDeps,
  viewer: Viewer,
  at: TeamAddress | number,
  username: string,
): Promise<void> {
  const { team } = await findTeam(deps, viewer, at, 'manage');
  const owner = await deps.owners.resolve(username.trim());
  if (owner?.kind !== 'user') throw memberNotFound();
  await deps.db.write(async ({ manager }) => {
    await teamInWrite(manager, viewer, team);
    const { affected } = await manager.delete(teamMemberSchema, { teamId: team.id, userId: owner.id });
    if (affected !== 1) throw memberNotFound();
  });
  deps.logger.info('team.member_removed', { ...about(team), userId: owner.id, by: viewerForLog(viewer) });
}

/** Leaves a team. Throws `team_not_found`, `team_member_not_found` unless the viewer is in it; `insufficient_scope`. */
export async function leaveTeam(deps: OrganisationDeps, viewer: Viewer, at: TeamAddress | number): Promise<void> {
  const { team } = await findTeam(deps, viewer, at);
  if (!scopeAllows(viewer, 'write')) throw insufficientScope();
  const userId = viewer.kind === 'person' ? viewer.id : '';
  const { affected } = await deps.db.write(({ manager }) =>
    manager.delete(teamMemberSchema, { teamId: team.id, userId }),
  );
  if (affected !== 1) throw memberNotFound();
  deps.logger.info('team.member_left', { ...about(team), userId });
}

const about = ({ id, organisationId }: Pick<Team, 'id' | 'organisationId'>) => ({ teamId: id, organisationId });

/** Removes a user from an organisation's teams, in the transaction that ends their membership. */
export async function leaveTeamsOf(
  manager: EntityManager,
  { organisationId, userId }: { organisationId: string; userId: string },
): Promise<void> {
  await manager
    .createQueryBuilder()
    .delete()
    .from(teamMemberSchema)
    .where('user_id = :userId AND team_id IN (SELECT id FROM teams WHERE organisation_id = :organisationId)', {
      userId,
      organisationId,
    })
    .execute();
}
