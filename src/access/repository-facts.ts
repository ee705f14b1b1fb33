export type Visibility = 'PUBLIC' | 'PRIVATE';
export type OrganisationRole = 'GUEST' | 'MEMBER' | 'OWNER';
export type CollaboratorRole = 'read' | 'write' | 'admin';

export const organisationRoles: readonly OrganisationRole[] = ['GUEST', 'MEMBER', 'OWNER'];
export const collaboratorRoles: readonly CollaboratorRole[] = ['read', 'write', 'admin'];

/** All facts about a repository and the viewer's grants that the policy needs. */
export interface RepositoryFacts {
  id: string;
  visibility: Visibility;
  /** Exactly one of the two owners is set (SPEC §2.2). */
  ownerUserId: string | null;
  ownerOrganisationId: string | null;
  /** The viewer's role in the owning organisation. */
  organisationRole: OrganisationRole | null;
  /** The viewer's role as a collaborator of this repository. */
  collaboratorRole: CollaboratorRole | null;
  /** The highest role that teams of the owning organisation give the viewer. */
  teamRole: CollaboratorRole | null;
  /** In the trash: hidden from everyone but the command line. */
  deleted: boolean;
}
