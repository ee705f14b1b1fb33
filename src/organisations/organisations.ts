import type { Door } from '../db/index.ts';
import { internal } from '../kernel/index.ts';
import { addMember } from './add-member.ts';
import { changeMemberRole, leaveOrganisation, removeMember } from './change-member.ts';
import { createOrganisation } from './create-organisation.ts';
import { deleteOrganisation } from './delete-organisation.ts';
import { editOrganisation, removeAvatar, renameOrganisation, replaceAvatar } from './edit-organisation.ts';
import { findManaged, findOrganisation, roleOf } from './find-organisation.ts';
import { refuseOnlyOwner } from './last-owner.ts';
import { listMembers, listMembersPage } from './list-members.ts';
import { countOrganisations, listOrganisations, memberCount, organisationsOf } from './list-organisations.ts';
import type { OwnedRepositories, OrganisationDeps } from './deps.ts';

/**
 * Organisations and who belongs to them (SPEC §2.3, §3, §4.4). The function
 * behind each name says what it does and what it refuses.
 */
export function createOrganisations(tools: Omit<OrganisationDeps, 'ownedRepositories'>) {
  const unplugged = () => Promise.reject(internal('nobody told organisations what they own'));
  const deps: OrganisationDeps = { ...tools, ownedRepositories: { namesOf: unplugged, forgetTrash: unplugged } };
  /** Gives the room to a use-case; what remains are the parameters its own page describes. */
  const bind =
    <Rest extends unknown[], Result>(useCase: (deps: OrganisationDeps, ...rest: Rest) => Result) =>
    (...rest: Rest): Result =>
      useCase(deps, ...rest);

  return {
    create: bind(createOrganisation),
    find: bind(findOrganisation),
    findManaged: bind(findManaged),
    list: bind(listOrganisations),
    countAll: bind(countOrganisations),
    organisationsOf: bind(organisationsOf),
    memberCount: bind(memberCount),
    /**
     * A person's role in an organisation, `null` for no member.
     * @param door pass the write's manager to see what the write has done
     */
    roleOf: (personId: string, organisationId: string, door: Door = deps.db.lookup) =>
      roleOf(door, personId, organisationId),

    edit: bind(editOrganisation),
    rename: bind(renameOrganisation),
    delete: bind(deleteOrganisation),
    replaceAvatar: bind(replaceAvatar),
    removeAvatar: bind(removeAvatar),

    listMembers: bind(listMembers),
    listMembersPage: bind(listMembersPage),
    addMember: bind(addMember),
    changeMemberRole: bind(changeMemberRole),
    removeMember: bind(removeMember),
    leave: bind(leaveOrganisation),
    /** For the write that deletes an account. */
    refuseOnlyOwner,

    /** Plugs in who knows what organisations own; before anything is deleted. */
    owning(belongings: OwnedRepositories): void {
      deps.ownedRepositories = belongings;
    },
  };
}

export type Organisations = ReturnType<typeof createOrganisations>;
