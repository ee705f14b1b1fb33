import type { Route } from '../app/route.ts';
import { showMembers, addMember, changeMemberRole, removeMember } from './members.page.ts';
import { showNewOrganisation, createOrganisation } from './new-organisation.page.ts';
import {
  showOrganisationSettings,
  saveOrganisation,
  uploadOrganisationAvatar,
  deleteOrganisationAvatar,
  renameOrganisation,
  deleteOrganisation,
} from './organisation-settings.page.ts';
import { showTeams, showNewTeam, createTeam } from './teams.page.ts';
import {
  showTeam,
  saveTeam,
  deleteTeam,
  addTeamMember,
  removeTeamMember,
  leaveTeam,
  setTeamRepository,
  removeTeamRepository,
} from './team.page.ts';
import { followOrganisation, leaveOrganisation, showOrganisation, unfollowOrganisation } from './organisation.page.ts';

const at = '/orgs/:name';
const team = `${at}/teams/:team` as const;

/** Organisations and their members. */
export const organisationRoutes: readonly Route[] = [
  { method: 'GET', path: '/orgs/new', access: 'signed-in', cost: 'free', page: showNewOrganisation },
  { method: 'POST', path: '/orgs', access: 'signed-in', cost: 'rows', page: createOrganisation },
  { method: 'GET', path: at, access: 'public', cost: 'rows', page: showOrganisation },
  { method: 'POST', path: `${at}/follow`, access: 'signed-in', cost: 'rows', page: followOrganisation },
  { method: 'POST', path: `${at}/unfollow`, access: 'signed-in', cost: 'rows', page: unfollowOrganisation },
  { method: 'POST', path: `${at}/leave`, access: 'signed-in', cost: 'rows', page: leaveOrganisation },
  { method: 'GET', path: `${at}/members`, access: 'organisation:owner', cost: 'rows', page: showMembers },
  { method: 'POST', path: `${at}/members`, access: 'organisation:owner', cost: 'rows', page: addMember },
  {
    method: 'POST',
    path: `${at}/members/:username/role`,
    access: 'organisation:owner',
    cost: 'rows',
    page: changeMemberRole,
  },
  {
    method: 'POST',
    path: `${at}/members/:username/remove`,
    access: 'organisation:owner',
    cost: 'rows',
    page: removeMember,
  },
  { method: 'GET', path: `${at}/teams`, access: 'signed-in', cost: 'rows', page: showTeams },
  { method: 'GET', path: `${at}/teams/new`, access: 'organisation:owner', cost: 'rows', page: showNewTeam },
  { method: 'POST', path: `${at}/teams`, access: 'organisation:owner', cost: 'rows', page: createTeam },
  { method: 'GET', path: team, access: 'signed-in', cost: 'rows', page: showTeam },
  { method: 'POST', path: team, access: 'signed-in', cost: 'rows', page: saveTeam },
  {
    method: 'POST',
    path: `${team}/delete`,
    access: 'signed-in',
    cost: 'rows',
    page: deleteTeam,
    confirmation: 'required',
  },
  { method: 'POST', path: `${team}/leave`, access: 'signed-in', cost: 'rows', page: leaveTeam },
  { method: 'POST', path: `${team}/members`, access: 'signed-in', cost: 'rows', page: addTeamMember },
  {
    method: 'POST',
    path: `${team}/members/:username/remove`,
    access: 'signed-in',
    cost: 'rows',
    page: removeTeamMember,
  },
  { method: 'POST', path: `${team}/repositories`, access: 'signed-in', cost: 'rows', page: setTeamRepository },
  {
    method: 'POST',
    path: `${team}/repositories/:repository/remove`,
    access: 'signed-in',
    cost: 'rows',
    page: removeTeamRepository,
  },
  { method: 'GET', path: `${at}/settings`, access: 'organisation:owner', cost: 'rows', page: showOrganisationSettings },
  { method: 'POST', path: `${at}/settings`, access: 'organisation:owner', cost: 'rows', page: saveOrganisation },
  {
    method: 'POST',
    path: `${at}/avatar`,
    access: 'organisation:owner',
    cost: 'upload',
    page: uploadOrganisationAvatar,
    upload: 'avatar',
  },
  {
    method: 'POST',
    path: `${at}/avatar/delete`,
    access: 'organisation:owner',
    cost: 'rows',
    page: deleteOrganisationAvatar,
  },
  { method: 'POST', path: `${at}/rename`, access: 'organisation:owner', cost: 'rows', page: renameOrganisation },
  {
    method: 'POST',
    path: `${at}/delete`,
    access: 'organisation:owner',
    cost: 'objects',
    page: deleteOrganisation,
    confirmation: 'required',
  },
];
