import { bindDeps } from '../../kernel/index.ts';
import type { OrganisationDeps } from '../deps.ts';
import { addTeamMember, createTeam, deleteTeam, editTeam, leaveTeam, removeTeamMember } from './change-team.ts';
import { findTeam, requireOnTeam } from './find-team.ts';
import { knownTeams, listTeamMembers, listTeams, teamNamed, teamPeople, teamsById, teamsOf } from './list-teams.ts';

/** Teams of organisations; the functions behind these names document their errors. */
export function createTeamService(deps: OrganisationDeps) {
  const bind = bindDeps(deps);
  return {
    list: bind(listTeams),
    find: bind(findTeam),
    create: bind(createTeam),
    edit: bind(editTeam),
    delete: bind(deleteTeam),
    members: bind(listTeamMembers),
    addMember: bind(addTeamMember),
    removeMember: bind(removeTeamMember),
    leave: bind(leaveTeam),
    ofPerson: bind(teamsOf),
    byId: bind(teamsById),
    knownAmong: bind(knownTeams),
    peopleOf: bind(teamPeople),
    named: bind(teamNamed),
    requireInWrite: requireOnTeam,
  };
}
