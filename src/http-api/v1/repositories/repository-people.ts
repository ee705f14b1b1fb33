import { z } from 'zod';
import { allows, ownsRepository, personViewer, repositoryLevel } from '../../../access/index.ts';
import type { PersonViewer } from '../../../access/index.ts';
import { userPayload } from '../../../gitea-shapes/index.ts';
import type { WebDeps } from '../../../web/index.ts';
import { isDomainError, notFound, onReason } from '../../../kernel/index.ts';
import type { Found } from '../../../repositories/index.ts';
import { json, noContent } from '../../responses.ts';
import { operation } from '../../operation.ts';
import { giteaUser } from '../shapes/issues-schemas.ts';
import { permission, team } from '../../../gitea-shapes/schemas.ts';
import { isOwnersTeam, showOwnersTeam } from '../organisations/owners-team.ts';
import { showTeam } from '../organisations/teams.ts';

/** Users and teams of a repository at Gitea's URLs. */
const at = '/repos/{owner}/{name}';
const common = { tag: 'Collaborators', cost: 'rows' } as const;
const collaboratorAt = `${at}/collaborators/{username}` as const;

async function collaboratorNamed(deps: WebDeps, viewer: PersonViewer, { canonical }: Found, username: string) {
  const { id } = await deps.accounts.personByUsername(username);
  const all = await deps.repositories.collaborators.list(viewer, canonical.owner, canonical.name);
  return all.find(({ person }) => person.id === id);
}

const isCollaborator = operation({
  ...common,
  id: 'isCollaborator',
  method: 'GET',
  path: collaboratorAt,
  summary: 'Check whether a user is a collaborator',
  access: 'repository:admin',
  status: 204,
  refuses: [404],
  async run({ viewer, found, params, deps }) {
    if ((await collaboratorNamed(deps, viewer, found, params.username)) === undefined)
      throw notFound('collaborator_not_found', 'There is no such collaborator.');
    return noContent();
  },
});

const putCollaborator = operation({
  ...common,
  id: 'putCollaborator',
  method: 'PUT',
  path: collaboratorAt,
  summary: 'Add a collaborator or change their role',
  access: 'repository:admin',
  status: 204,
  refuses: [404],
  refusesUnknownKeys: true,
  body: z.object({ permission: permission.optional().describe('Defaults to write') }),
  async run({ viewer, found, params: { username }, body: { permission: role = 'write' }, deps }) {
    const { owner, name } = found.canonical;
    const { add, changeRole } = deps.repositories.collaborators;
    const change = () => changeRole(viewer, owner, name, { username, role });
    if ((await collaboratorNamed(deps, viewer, found, username)) !== undefined) await change();
    // Another call of the same may be faster.
    else await add(viewer, owner, name, { username, role }).catch(onReason('already_collaborator', change));
    return noContent();
  },
});

const words = { none: 'none', read: 'read', write: 'write', admin: 'admin' } as const;

const getPermission = operation({
  ...common,
  id: 'getCollaboratorPermission',
  method: 'GET',
  path: `${collaboratorAt}/permission`,
  summary: 'Get a user’s permissions in a repository; repository administrators can get those of all users',
  access: 'repository:read',
  scope: 'read',
  status: 200,
  refuses: [404],
  response: z
    .strictObject({
      permission: z.enum(['none', 'read', 'write', 'admin', 'owner']),
      role_name: z.string(),
      user: giteaUser,
    })
    .meta({ id: 'RepoCollaboratorPermission' }),
  async run({ viewer, found, params, deps, origin }) {
    const person = await deps.accounts.personByUsername(params.username);
    const isOwn = viewer.kind === 'person' && viewer.id === person.id;
    if (!isOwn && found.level !== 'admin') throw notFound('unknown_person', 'There is no such person.');
    const facts = await deps.repositories.factsOf(person.id, found.repository);
    const they = personViewer(person.id, 'admin');
    const level = ownsRepository(they, facts) ? 'owner' : words[repositoryLevel(they, facts)];
    return json({ permission: level, role_name: level, user: userPayload(person, { baseUrl: origin }) });
  },
});

const listAssignees = operation({
  ...common,
  tag: 'Issues',
  id: 'listAssignees',
  method: 'GET',
  path: `${at}/assignees`,
  summary: 'List the users to whom issues can be assigned (requires write access)',
  access: 'repository:write',
  status: 200,
  response: z.array(giteaUser),
  async run({ viewer, found, deps, origin }) {
    const people = await deps.accounts.peopleById(await deps.pulls.attention.candidates(viewer, found.canonical));
    const writers = await Promise.all(
      [...people.values()].map(async (person) => {
        const facts = await deps.repositories.factsOf(person.id, found.repository);
        return allows(repositoryLevel(personViewer(person.id, 'admin'), facts), 'write') ? person : null;
      }),
    );
    return json(
      writers
        .filter((person) => person !== null)
        .sort((one, other) => (one.username!.toLowerCase() < other.username!.toLowerCase() ? -1 : 1))
        .map((person) => userPayload(person, { baseUrl: origin })),
    );
  },
});

const teamAt = `${at}/teams/{team}` as const;

/** Throws `team_not_found`, also for a repository of a user, who has no teams. */
const teamOf = (deps: WebDeps, viewer: PersonViewer, { owner }: Found, name: string) => {
  if (owner.kind !== 'organisation') throw notFound('team_not_found', 'Team not found');
  return deps.organisations.teams.find(viewer, { organisation: owner.handle, name });
};

const getRepositoryTeam = operation({
  ...common,
  tag: 'Teams',
  id: 'getRepositoryTeam',
  method: 'GET',
  path: teamAt,
  summary: 'Get a team that has a role in a repository',
  access: 'repository:admin',
  status: 200,
  refuses: [404],
  response: team,
  async run(call) {
    const { viewer, found, params, deps } = call;
    if (found.owner.kind === 'organisation' && isOwnersTeam(params.team))
      return json(await showOwnersTeam(await deps.organisations.find(found.owner.handle), call));
    const named = await teamOf(deps, viewer, found, params.team);
    const { owner, name } = found.canonical;
    const teams = await deps.repositories.teams.listOfRepository(viewer, owner, name);
    const here = teams.find((each) => each.team.id === named.team.id);
    if (here === undefined) throw notFound('team_not_found', 'Team not found');
    return json(await showTeam({ ...here.team, role: here.role }, named.organisation, call));
  },
});

const addRepositoryTeam = operation({
  ...common,
  tag: 'Teams',
  id: 'addRepositoryTeam',
  method: 'PUT',
  path: teamAt,
  summary: 'Add a team to a repository with the team’s default role',
  description: 'Requires the role OWNER in the organisation.',
  access: 'repository:admin',
  status: 204,
  refuses: [404, 409, 422],
  async run({ viewer, found, params, deps }) {
    const { team: named } = await teamOf(deps, viewer, found, params.team);
    await deps.repositories.teams.setRole(viewer, named.serial, found.canonical, null);
    return noContent();
  },
});

const removeRepositoryTeam = operation({
  ...common,
  tag: 'Teams',
  id: 'removeRepositoryTeam',
  method: 'DELETE',
  path: teamAt,
  summary: 'Remove a team from a repository',
  description: 'Requires the role OWNER in the organisation.',
  access: 'repository:admin',
  status: 204,
  refuses: [404],
  async run({ viewer, found, params, deps }) {
    const { team: named } = await teamOf(deps, viewer, found, params.team);
    await deps.repositories.teams.removeRole(viewer, named.serial, found.canonical);
    return noContent();
  },
});

const searchTeams = operation({
  ...common,
  tag: 'Teams',
  id: 'searchTeams',
  method: 'GET',
  path: '/orgs/{org}/teams/search',
  summary: 'Search an organisation’s teams visible to the caller',
  access: 'account:read',
  status: 200,
  refuses: [404],
  query: z.object({
    q: z.string().max(100).optional().describe('Text in the name or description'),
    include_desc: z.boolean().default(true),
    page: z.int().min(1).max(10_000).default(1),
    limit: z.int().min(1).max(100).default(30),
  }),
  response: z.strictObject({ ok: z.literal(true), data: z.array(team) }).meta({ id: 'TeamSearchResult' }),
  async run(call) {
    const { viewer, params, query, deps } = call;
    const owner = await deps.organisations.find(params.org);
    const wanted = (query.q ?? '').toLowerCase();
    const teams = (await deps.organisations.teams.list(viewer, owner.name)).filter(
      ({ name, description }) =>
        name.toLowerCase().includes(wanted) || (query.include_desc && description.toLowerCase().includes(wanted)),
    );
    const shown = teams.slice((query.page - 1) * query.limit, query.page * query.limit);
    return json({ ok: true as const, data: await Promise.all(shown.map((each) => showTeam(each, owner, call))) });
  },
});

/** Only members see the members of an organisation; to others all are absent. */
const memberOperation = (
  id: string,
  path: '/orgs/{org}/members/{username}' | '/orgs/{org}/public_members/{username}',
  summary: string,
) =>
  operation({
    ...common,
    tag: 'Organisations',
    id,
    method: 'GET',
    path,
    summary,
    description: 'Only for members of the organisation; others get 404.',
    access: 'account:read',
    status: 204,
    refuses: [404],
    async run({ viewer, params, deps }) {
      const { id: organisationId } = await deps.organisations.find(params.org);
      const absent = () => notFound('member_not_found', 'There is no such member.');
      const person = await deps.accounts.personByUsername(params.username).catch((error: unknown) => {
        if (isDomainError(error) && error.code === 'not_found') throw absent();
        throw error;
      });
      const [own, role] = await Promise.all([
        deps.organisations.roleOf(viewer.id, organisationId),
        deps.organisations.roleOf(person.id, organisationId),
      ]);
      if (path.includes('public_members')) {
        const shown = await deps.organisations.listPublicMembers(params.org);
        if (!shown.some(({ id }) => id === person.id)) throw absent();
        return noContent();
      }
      if (!(own !== null || viewer.isAdministrator) || role === null) throw absent();
      return noContent();
    },
  });

const listPublicMembers = operation({
  ...common,
  tag: 'Organisations',
  id: 'listPublicMembers',
  method: 'GET',
  path: '/orgs/{org}/public_members',
  summary: 'List an organisation’s public members by username',
  access: 'anyone',
  status: 200,
  refuses: [404],
  response: z.array(giteaUser),
  async run({ params, deps, origin }) {
    const people = await deps.organisations.listPublicMembers(params.org);
    return json(people.map((person) => userPayload(person, { baseUrl: origin })));
  },
});

/** Only for oneself: the memberships of others are never shown. */
const publicity = (id: string, method: 'PUT' | 'DELETE', summary: string) =>
  operation({
    ...common,
    tag: 'Organisations',
    id,
    method,
    path: '/orgs/{org}/public_members/{username}',
    summary,
    access: 'account:write',
    status: 204,
    refuses: [404],
    async run({ viewer, params, deps }) {
      const isPublic = method === 'PUT';
      await deps.organisations.setMembershipPublic(viewer, params.org, { username: params.username, isPublic });
      return noContent();
    },
  });

export const repositoryPeopleOperations = [
  isCollaborator,
  putCollaborator,
  getPermission,
  listAssignees,
  getRepositoryTeam,
  addRepositoryTeam,
  removeRepositoryTeam,
  searchTeams,
  listPublicMembers,
  publicity('publicizeMembership', 'PUT', 'Make the caller’s membership of an organisation public'),
  publicity('concealMembership', 'DELETE', 'Make the caller’s membership of an organisation private'),
  memberOperation('isMember', '/orgs/{org}/members/{username}', 'Check whether a user belongs to an organisation'),
  memberOperation(
    'isPublicMember',
    '/orgs/{org}/public_members/{username}',
    'Check whether a user’s membership of an organisation is public',
  ),
];
