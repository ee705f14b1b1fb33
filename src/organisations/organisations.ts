import type { RowSource } from '../db/index.ts';
import { bindDeps, internal } from '../kernel/index.ts';
import { inviteMember, joinInvited } from './invite-member.ts';
import { addMember } from './add-member.ts';
import { changeMemberRole, leaveOrganisation, removeMember } from './change-member.ts';
import { createOrganisation } from './create-organisation.ts';
import { deleteOrganisation } from './delete-organisation.ts';
import { editOrganisation, removeAvatar, renameOrganisation, replaceAvatar } from './edit-organisation.ts';
import { findManaged, findOrganisation, organisationByNumber, organisationsById, roleOf } from './find-organisation.ts';
import {
  countOrganisationFollowers,
  followOrganisation,
  isFollowingOrganisation,
  unfollowOrganisation,
} from './follow-organisation.ts';
import { refuseOnlyOwner } from './last-owner.ts';
import { listMembers, listMembersPage } from './list-members.ts';
import { countOrganisations, listOrganisations, memberCount, organisationsOf } from './list-organisations.ts';
import { createTeamService } from './teams/team-service.ts';
import { listPublicMembers, setMembershipPublic } from './public-members.ts';
import { syncMemberships } from './sync-memberships.ts';
import type { OwnedRepositories, OrganisationDeps } from './deps.ts';

/**
 * Organisations and their members (SPEC §2.3, §3, §4.4). The functions behind the names document their behaviour and
 * errors.
 */
export function createOrganisations(tools: Omit<OrganisationDeps, 'ownedRepositories'>) {
  const unplugged = () => Promise.reject(internal('nobody told organisations what they own'));
  const deps: OrganisationDeps = { ...tools, ownedRepositories: { namesOf: unplugged, detachTrash: unplugged } };
  const bind = bindDeps(deps);

  return {
    create: bind(createOrganisation),
    find: bind(findOrganisation),
    findManaged: bind(findManaged),
    byIds: bind(organisationsById),
    list: bind(listOrganisations),
    countAll: bind(countOrganisations),
    organisationsOf: bind(organisationsOf),
    memberCount: bind(memberCount),
    /**
     * A user's role in an organisation, `null` if they are not a member.
     * @param source the transaction's manager, to read within it
     */
    roleOf: (personId: string, organisationId: string, source: RowSource = deps.db.lookup) =>
      roleOf(source, personId, organisationId),

    follows: {
      add: bind(followOrganisation),
      remove: bind(unfollowOrganisation),
      has: bind(isFollowingOrganisation),
      count: bind(countOrganisationFollowers),
    },

    edit: bind(editOrganisation),
    rename: bind(renameOrganisation),
    delete: bind(deleteOrganisation),
    replaceAvatar: bind(replaceAvatar),
    removeAvatar: bind(removeAvatar),

    listMembers: bind(listMembers),
    listMembersPage: bind(listMembersPage),
    addMember: bind(addMember),
    invite: bind(inviteMember),
    /** Runs inside the transaction of a sign-up by invitation. */
    joinInvited: bind(joinInvited),
    changeMemberRole: bind(changeMemberRole),
    removeMember: bind(removeMember),
    leave: bind(leaveOrganisation),
    listPublicMembers: bind(listPublicMembers),
    setMembershipPublic: bind(setMembershipPublic),
    byNumber: bind(organisationByNumber),
    syncMemberships: bind(syncMemberships),
    teams: createTeamService(deps),
    /** Runs inside the transaction that deletes an account. */
    refuseOnlyOwner,

    /** Connects the port for the repositories of organisations. */
    setOwnedRepositories(ownedRepositories: OwnedRepositories): void {
      deps.ownedRepositories = ownedRepositories;
    },
  };
}

export type Organisations = ReturnType<typeof createOrganisations>;
