import { In } from 'typeorm';
import { refusalOnTeam } from '../../access/index.ts';
import type { Viewer } from '../../access/index.ts';
import type { Person } from '../../accounts/index.ts';
import { idsIn } from '../../db/index.ts';
import type { OrganisationDeps } from '../deps.ts';
import { findOrganisation, roleOf } from '../find-organisation.ts';
import { organisationNotFound, toOrganisation } from '../organisation.ts';
import type { Organisation } from '../organisation.ts';
import { organisationSchema } from '../organisation-schema.ts';
import { findTeam, toTeam } from './find-team.ts';
import type { TeamAddress } from './find-team.ts';
import { teamLimits } from './team.ts';
import type { Team } from './team.ts';
import { teamMemberSchema, teamSchema, teamSerialSchema } from './team-schema.ts';
import type { TeamRow } from './team-schema.ts';

export interface ListedTeam extends Team {
  /** Number of its members. */
  people: number;
}

/** A member of a team. */
export interface TeamMember {
  person: Person;
  /** Epoch milliseconds. */
  since: number;
}

/**
 * The teams of an organisation that the viewer can see, sorted by name: all for its members, their own for other users.
 * Throws `organisation_not_found` for non-members who can see none.
 */
export async function listTeams(deps: OrganisationDeps, viewer: Viewer, name: string): Promise<ListedTeam[]> {
  const organisation = await findOrganisation(deps, name);
  const rows = await deps.db.read.find(teamSchema, {
    where: { organisationId: organisation.id },
    take: teamLimits.teams,
    order: { nameFolded: 'ASC' },
  });
  const userId = viewer.kind === 'person' ? viewer.id : null;
  const organisationRole = userId === null ? null : await roleOf(deps.db.read, userId, organisation.id);
  const own = new Set(
    userId === null
      ? []
      : (await deps.db.read.findBy(teamMemberSchema, { userId, teamId: In(rows.map(({ id }) => id)) })).map(
          ({ teamId }) => teamId,
        ),
  );
  const mayKnow = (isMember: boolean) => refusalOnTeam(viewer, { organisationRole, isMember }, 'read') === null;
  const known = rows.filter(({ id }) => mayKnow(own.has(id)));
  if (known.length === 0 && !mayKnow(false)) throw organisationNotFound();
  return withCounts(deps, known);
}

/** A user's team, with its organisation. */
interface TeamOfPerson {
  team: Team;
  organisation: Organisation;
}

/** The teams that a user is in, sorted by organisation and name. For the user's own pages. */
export async function teamsOf(deps: OrganisationDeps, personId: string): Promise<TeamOfPerson[]> {
  const teamIds = (await deps.db.read.findBy(teamMemberSchema, { userId: personId })).map(({ teamId }) => teamId);
  if (teamIds.length === 0) return [];
  const rows = await deps.db.read.findBy(teamSchema, { id: In(teamIds) });
  const [teams, organisations] = await Promise.all([
    withCounts(deps, rows),
    deps.db.read.findBy(organisationSchema, { id: In(rows.map(({ organisationId }) => organisationId)) }),
  ]);
  const byId = new Map(organisations.map((row) => [row.id, toOrganisation(row)]));
  const key = ({ team, organisation }: TeamOfPerson) => `${organisation.name}/${team.name}`.toLowerCase();
  return teams
    .flatMap(({ people: _, ...team }) => {
      const organisation = byId.get(team.organisationId);
      return organisation === undefined ? [] : [{ team, organisation }];
    })
    .sort((a, b) => (key(a) < key(b) ? -1 : 1));
}

async function withCounts({ db }: OrganisationDeps, rows: readonly TeamRow[]): Promise<ListedTeam[]> {
  const ids = rows.map(({ id }) => id);
  if (ids.length === 0) return [];
  const [serials, counts] = await Promise.all([
    db.read.findBy(teamSerialSchema, { teamId: In(ids) }),
    db.read
      .createQueryBuilder(teamMemberSchema, 'm')
      .select('m.team_id', 'id')
      .addSelect('count(*)', 'people')
      .where(...idsIn('m.team_id', ids))
      .groupBy('m.team_id')
      .getRawMany<{ id: string; people: number }>(),
  ]);
  const serialOf = new Map(serials.map(({ teamId, serial }) => [teamId, serial]));
  const peopleOf = new Map(counts.map(({ id, people }) => [id, Number(people)]));
  return rows.map((row) => ({ ...toTeam(row, serialOf.get(row.id) ?? 0), people: peopleOf.get(row.id) ?? 0 }));
}

/** Teams by id with their organisations. No access check: for callers that have checked it. */
export async function teamsById(deps: OrganisationDeps, ids: readonly string[]): Promise<Map<string, TeamOfPerson>> {
  if (ids.length === 0) return new Map();
  const rows = await deps.db.read.findBy(teamSchema, { id: In([...ids]) });
  const organisations = await deps.db.read.findBy(organisationSchema, {
    id: In(rows.map(({ organisationId }) => organisationId)),
  });
  const byId = new Map(organisations.map((row) => [row.id, toOrganisation(row)]));
  const teams = await withCounts(deps, rows);
  return new Map(
    teams.map(({ people: _, ...team }) => [team.id, { team, organisation: byId.get(team.organisationId)! }]),
  );
}

/**
 * Those of some teams that the viewer can see, by id, with their organisations: for pages that show a team beside other
 * content. Omits hidden and deleted teams alike.
 */
export async function knownTeams(
  deps: OrganisationDeps,
  viewer: Viewer,
  ids: readonly string[],
): Promise<Map<string, TeamOfPerson>> {
  const teams = await teamsById(deps, [...new Set(ids)]);
  const userId = viewer.kind === 'person' ? viewer.id : null;
  const own = new Set(
    userId === null || teams.size === 0
      ? []
      : (await deps.db.read.findBy(teamMemberSchema, { userId, teamId: In([...teams.keys()]) })).map(
          ({ teamId }) => teamId,
        ),
  );
  const roles = new Map<string, Awaited<ReturnType<typeof roleOf>>>();
  for (const [id, { organisation }] of teams) {
    if (userId !== null && !roles.has(organisation.id))
      roles.set(organisation.id, await roleOf(deps.db.read, userId, organisation.id));
    const facts = { organisationRole: roles.get(organisation.id) ?? null, isMember: own.has(id) };
    if (refusalOnTeam(viewer, facts, 'read') !== null) teams.delete(id);
  }
  return teams;
}

/** The members of a team, sorted by handle. Throws `team_not_found`. */
export async function listTeamMembers(
  deps: OrganisationDeps,
  viewer: Viewer,
  at: TeamAddress | number,
): Promise<TeamMember[]> {
  const { team } = await findTeam(deps, viewer, at);
  const rows = await deps.db.read.findBy(teamMemberSchema, { teamId: team.id });
  const people = await deps.accounts.peopleById(rows.map(({ userId }) => userId));
  const key = ({ person }: TeamMember) => (person.username ?? '').toLowerCase();
  return rows
    .flatMap(({ userId, createdAt }) => {
      const person = people.get(userId);
      return person === undefined ? [] : [{ person, since: createdAt }];
    })
    .sort((a, b) => (key(a) < key(b) ? -1 : 1));
}

/**
 * UUIDs of team members. No access check: for policies and notifications, never for a page.
 * @param source of the dependent transaction
 */
export async function teamPeople(
  { db }: Pick<OrganisationDeps, 'db'>,
  teamIds: readonly string[],
  source = db.read,
): Promise<Map<string, string[]>> {
  if (teamIds.length === 0) return new Map();
  const rows = await source.findBy(teamMemberSchema, { teamId: In([...teamIds]) });
  const byTeam = Map.groupBy(rows, ({ teamId }) => teamId);
  return new Map([...byTeam].map(([teamId, members]) => [teamId, members.map(({ userId }) => userId)]));
}

/** A team by its name; null if there is none. No access check: for branch rules and code owners files. */
export async function teamNamed(deps: OrganisationDeps, organisationId: string, name: string): Promise<TeamRow | null> {
  return deps.db.read.findOneBy(teamSchema, { organisationId, nameFolded: name.toLowerCase() });
}
