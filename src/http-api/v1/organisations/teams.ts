import { z } from 'zod';
import { collaboratorRoles } from '../../../access/index.ts';
import type { CollaboratorRole } from '../../../access/index.ts';
import { notFound, onReason } from '../../../kernel/index.ts';
import { teamNotFound } from '../../../organisations/index.ts';
import type { Organisation, Team, TeamMember } from '../../../organisations/index.ts';
import { teamPayload, userPayload } from '../../../gitea-shapes/index.ts';
import { operation } from '../../operation.ts';
import { olderRepositories, olderRepository } from '../shapes/older-forms.ts';
import { created, json, noContent } from '../../responses.ts';
import { giteaUser, numberedPaging } from '../shapes/issues-schemas.ts';
import { listIn } from '../shapes/repository-pages.ts';
import { repository } from '../shapes/schemas.ts';
import { permission, team } from '../../../gitea-shapes/schemas.ts';
import { addOwner, listOwners, organisationOfOwners, showOwnersTeam } from './owners-team.ts';
import { showOrganisation } from '../shapes/payloads.ts';
import { showListed } from '../shapes/show-repositories.ts';
import type { WebDeps } from '../../../web/index.ts';

/**
 * Other fields that Gitea's clients send: here a role covers all units of a repository, and no team has access to all
 * repositories.
 */
const fields = {
  description: z.string().optional(),
  permission: permission.optional(),
  includes_all_repositories: z.literal(false).nullish(),
  can_create_org_repo: z.literal(false).nullish(),
  units: z.array(z.string()).nullish().describe('Has no effect: a role covers all units'),
  units_map: z
    .record(z.string(), z.string())
    .nullish()
    .describe('A role covers all units: without `permission`, the lowest of these applies'),
  visibility: z.string().nullish().describe('Has no effect: all members of the organisation see its teams'),
};

interface Asked {
  permission?: CollaboratorRole | undefined;
  units_map?: Record<string, string> | null | undefined;
}

/** The role that was asked for, or the least of those of parts: no part becomes open beyond what was meant for it. */
function roleIn({ permission: asked, units_map: map }: Asked): CollaboratorRole | undefined {
  if (asked !== undefined || map === undefined || map === null) return asked;
  const wanted = Object.values(map);
  if (wanted.length === 0) return undefined;
  if (wanted.includes('none')) return 'read';
  return collaboratorRoles.find((role) => wanted.includes(role));
}

interface Place {
  deps: WebDeps;
  origin: string;
}

/** A team with its organisation. */
export async function showTeam(
  shown: Team,
  owner: Organisation,
  { deps, origin }: Place,
): Promise<z.output<typeof team>> {
  const members = await deps.organisations.memberCount(owner.id);
  return teamPayload(shown, showOrganisation(owner, members, { origin }));
}

const showMember = ({ person }: Pick<TeamMember, 'person'>, origin: string) => userPayload(person, { baseUrl: origin });

/** The integer id of a team. Throws `team_not_found`. */
function serialIn({ id }: { id: string }): number {
  if (!/^[1-9]\d{0,14}$/.test(id)) throw teamNotFound();
  return Number(id);
}

const reading = { tag: 'Teams', access: 'account:read', cost: 'rows', refuses: [404] } as const;
const managing = { tag: 'Teams', access: 'account:admin', cost: 'rows', refuses: [404, 409] } as const;
const ofOrganisation = '/orgs/{org}/teams';
const one = '/teams/{id}';

const listTeams = operation({
  ...reading,
  id: 'listTeams',
  method: 'GET',
  path: ofOrganisation,
  summary: 'List an organisation’s teams by name',
  description: 'Members see all teams, including the OWNERs as the team Owners; others see only their own teams.',
  status: 200,
  response: z.array(team),
  async run(call) {
    const owner = await call.deps.organisations.find(call.params.org);
    const teams = await call.deps.organisations.teams.list(call.viewer, owner.name);
    const shown = await Promise.all(teams.map((each) => showTeam(each, owner, call)));
    const isMember = (await call.deps.organisations.roleOf(call.viewer.id, owner.id)) !== null;
    return json(isMember ? [await showOwnersTeam(owner, call), ...shown] : shown);
  },
});

const createTeam = operation({
  ...managing,
  id: 'createTeam',
  method: 'POST',
  path: ofOrganisation,
  summary: 'Create a team',
  description: 'Requires the role OWNER.',
  status: 201,
  refusesUnknownKeys: true,
  body: z.object({ name: z.string(), ...fields }),
  response: team,
  async run(call) {
    const { name, description } = call.body;
    const role = roleIn(call.body);
    const made = await call.deps.organisations.teams.create(call.viewer, call.params.org, { name, description, role });
    const owner = await call.deps.organisations.find(call.params.org);
    return created(await showTeam(made, owner, call), `/teams/${made.serial}`);
  },
});

const listOwnTeams = operation({
  ...reading,
  id: 'listOwnTeams',
  method: 'GET',
  path: '/user/teams',
  summary: 'List the teams that the caller belongs to',
  status: 200,
  refuses: [],
  response: z.array(team),
  async run(call) {
    const teams = await call.deps.organisations.teams.ofPerson(call.viewer.id);
    return json(await Promise.all(teams.map((each) => showTeam(each.team, each.organisation, call))));
  },
});

const getTeam = operation({
  ...reading,
  id: 'getTeam',
  method: 'GET',
  path: one,
  summary: 'Get a team',
  status: 200,
  response: team,
  async run(call) {
    const ofOwners = await organisationOfOwners(call, call.params.id);
    if (ofOwners !== null) return json(await showOwnersTeam(ofOwners, call));
    const found = await call.deps.organisations.teams.find(call.viewer, serialIn(call.params));
    return json(await showTeam(found.team, found.organisation, call));
  },
});

const editTeam = operation({
  ...managing,
  id: 'editTeam',
  method: 'PATCH',
  path: one,
  summary: 'Edit a team',
  description: 'Requires the role OWNER. Omitted fields remain unchanged.',
  status: 200,
  refusesUnknownKeys: true,
  body: z.object({ name: z.string().optional(), ...fields }),
  response: team,
  async run(call) {
    const { name, description } = call.body;
    const role = roleIn(call.body);
    const { teams } = call.deps.organisations;
    const edited = await teams.edit(call.viewer, serialIn(call.params), { name, description, role });
    return json(await showTeam(edited, (await teams.find(call.viewer, edited.serial)).organisation, call));
  },
});

const deleteTeam = operation({
  ...managing,
  id: 'deleteTeam',
  method: 'DELETE',
  path: one,
  summary: 'Delete a team and the access that it grants',
  description: 'Requires the role OWNER.',
  status: 204,
  async run({ viewer, params, deps }) {
    await deps.organisations.teams.delete(viewer, serialIn(params));
    return noContent();
  },
});

async function membersOf(call: Parameters<typeof organisationOfOwners>[0] & { params: { id: string } }) {
  const ofOwners = await organisationOfOwners(call, call.params.id);
  if (ofOwners !== null) return listOwners(call, ofOwners);
  return call.deps.organisations.teams.members(call.viewer, serialIn(call.params));
}

const listTeamMembers = operation({
  ...reading,
  id: 'listTeamMembers',
  method: 'GET',
  path: `${one}/members`,
  summary: 'List a team’s members by username',
  status: 200,
  response: z.array(giteaUser),
  async run(call) {
    return json((await membersOf(call)).map((member) => showMember(member, call.origin)));
  },
});

const oneMember = `${one}/members/{username}` as const;

const getTeamMember = operation({
  ...reading,
  id: 'getTeamMember',
  method: 'GET',
  path: oneMember,
  summary: 'Get a team member',
  status: 200,
  response: giteaUser,
  async run(call) {
    const { params, origin } = call;
    const members = await membersOf(call);
    const found = members.find(({ person }) => person.username?.toLowerCase() === params.username.toLowerCase());
    if (found === undefined) throw notFound('team_member_not_found', 'There is no such person in this team.');
    return json(showMember(found, origin));
  },
});

const addTeamMember = operation({
  ...managing,
  id: 'addTeamMember',
  method: 'PUT',
  path: oneMember,
  summary: 'Add a user to a team',
  description:
    'Requires the role OWNER. The user does not need to be a member of the organisation and does not become one, except that users in the team Owners become OWNERs.',
  status: 204,
  async run(call) {
    const { viewer, params, deps } = call;
    const ofOwners = await organisationOfOwners(call, params.id);
    if (ofOwners !== null) await addOwner(call, ofOwners, params.username);
    // A program may repeat the call; the page of a team says that the user is in it already.
    else
      await deps.organisations.teams
        .addMember(viewer, serialIn(params), params.username)
        .catch(onReason('already_team_member', () => undefined));
    return noContent();
  },
});

const removeTeamMember = operation({
  ...managing,
  id: 'removeTeamMember',
  method: 'DELETE',
  path: oneMember,
  summary: 'Remove a user from a team (requires the role OWNER) or leave the team',
  description: 'Users removed from the team Owners also leave the organisation.',
  status: 204,
  async run(call) {
    const { viewer, params, deps } = call;
    const isSelf = (await deps.owners.resolve(params.username))?.id === viewer.id;
    const ofOwners = await organisationOfOwners(call, params.id);
    if (ofOwners !== null) {
      if (isSelf) await deps.organisations.leave(viewer, ofOwners.name);
      else await deps.organisations.removeMember(viewer, ofOwners.name, params.username);
      return noContent();
    }
    const at = serialIn(params);
    if (isSelf) await deps.organisations.teams.leave(viewer, at);
    else await deps.organisations.teams.removeMember(viewer, at, params.username);
    return noContent();
  },
});

const listTeamRepositories = operation({
  ...reading,
  id: 'listTeamRepositories',
  method: 'GET',
  path: `${one}/repos`,
  summary: 'List a team’s repositories visible to the caller, by name',
  status: 200,
  isPaged: true,
  query: z.object(numberedPaging),
  response: z.array(repository),
  older: olderRepositories,
  async run({ viewer, params, query, deps, origin }) {
    const ofOwners = await organisationOfOwners({ viewer, deps, origin }, params.id);
    const listOf = ({ id }: Organisation, teamId?: string) => {
      const owner = { kind: 'organisation', id } as const;
      return listIn({ viewer, deps, origin }, query, { owner, sort: 'name', ...(teamId !== undefined && { teamId }) });
    };
    if (ofOwners !== null) return listOf(ofOwners);
    const { team, organisation } = await deps.organisations.teams.find(viewer, serialIn(params));
    return listOf(organisation, team.id);
  },
});

const oneRepository = `${one}/repos/{org}/{repo}` as const;

const setTeamRepository = operation({
  ...managing,
  id: 'setTeamRepository',
  method: 'PUT',
  path: oneRepository,
  summary: 'Add an organisation repository to a team, or change the team’s role in it',
  description: 'Requires the role OWNER.',
  status: 204,
  query: z.object({ permission: permission.optional().describe('Defaults to the team’s default role') }),
  async run({ viewer, params, query, deps }) {
    const at = { owner: params.org, name: params.repo };
    await deps.repositories.teams.setRole(viewer, serialIn(params), at, query.permission ?? null);
    return noContent();
  },
});

const removeTeamRepository = operation({
  ...managing,
  id: 'removeTeamRepository',
  method: 'DELETE',
  path: oneRepository,
  summary: 'Remove a repository from a team',
  description: 'Requires the role OWNER.',
  status: 204,
  async run({ viewer, params, deps }) {
    await deps.repositories.teams.removeRole(viewer, serialIn(params), { owner: params.org, name: params.repo });
    return noContent();
  },
});

const listRepositoryTeams = operation({
  id: 'listRepositoryTeams',
  method: 'GET',
  path: '/repos/{owner}/{name}/teams',
  tag: 'Teams',
  summary: 'List the teams that have a role in a repository',
  description: 'Lists only teams visible to the caller; permission is the role in this repository.',
  access: 'repository:admin',
  cost: 'rows',
  status: 200,
  response: z.array(team),
  async run(call) {
    const { owner, name } = call.found.canonical;
    if (call.found.owner.kind !== 'organisation') return json([]);
    const organisationOf = await call.deps.organisations.find(owner);
    const teams = await call.deps.repositories.teams.listOfRepository(call.viewer, owner, name);
    const shown = teams.map((each) => showTeam({ ...each.team, role: each.role }, organisationOf, call));
    return json(await Promise.all([showOwnersTeam(organisationOf, call), ...shown]));
  },
});

const getTeamRepository = operation({
  ...reading,
  id: 'getTeamRepository',
  method: 'GET',
  path: oneRepository,
  summary: 'Get a team’s repository visible to the caller',
  status: 200,
  response: repository,
  older: olderRepository,
  async run({ viewer, params, deps, origin }) {
    const rows = await deps.repositories.teams.listOfTeam(viewer, serialIn(params));
    const found = rows.find(
      (row) =>
        row.repository.name.toLowerCase() === params.repo.toLowerCase() &&
        row.repository.owner.handle.toLowerCase() === params.org.toLowerCase(),
    );
    if (found === undefined) throw notFound('repository_not_found', 'Repository not found');
    const [shown] = await showListed([found.repository], viewer, { origin, deps });
    return json(shown!);
  },
});

export const teamOperations = [
  listTeams,
  createTeam,
  listOwnTeams,
  getTeam,
  editTeam,
  deleteTeam,
  listTeamMembers,
  getTeamMember,
  addTeamMember,
  removeTeamMember,
  listTeamRepositories,
  getTeamRepository,
  setTeamRepository,
  removeTeamRepository,
  listRepositoryTeams,
];
