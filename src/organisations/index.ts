import { memberSchema } from './member-schema.ts';
import { organisationFollowSchema } from './organisation-follow-schema.ts';
import { organisationSchema } from './organisation-schema.ts';
import { teamMemberSchema, teamSchema, teamSerialSchema } from './teams/team-schema.ts';

export { createOrganisations } from './organisations.ts';
export type { Organisations } from './organisations.ts';
export { announceAccess, personToAdd } from './add-member.ts';
export type { Member } from './list-members.ts';
export type { ListedOrganisation, Membership } from './list-organisations.ts';
export type { Organisation } from './organisation.ts';
export { parseTeamRole, teamLimits, teamNotFound } from './teams/team.ts';
export type { Team } from './teams/team.ts';
export type { FoundTeam, TeamAddress } from './teams/find-team.ts';
export type { ListedTeam, TeamMember } from './teams/list-teams.ts';
export type { OwnedRepositories } from './deps.ts';

export const organisationEntities = [
  organisationSchema,
  memberSchema,
  teamSchema,
  teamSerialSchema,
  teamMemberSchema,
  organisationFollowSchema,
];
