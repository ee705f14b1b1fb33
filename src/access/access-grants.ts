import { allows } from './level.ts';
import type { Level } from './level.ts';
import type { CollaboratorRole, OrganisationRole, RepositoryFacts } from './repository-facts.ts';

/** A grant that connects a user to a repository, with its level. */
export type AccessGrant =
  | { kind: 'owner'; level: 'admin' }
  | { kind: 'organisation'; role: OrganisationRole; level: Level }
  | { kind: 'team'; role: CollaboratorRole; level: Level }
  | { kind: 'collaborator'; role: CollaboratorRole; level: Level };

const byOrganisationRole: Record<OrganisationRole, Level> = {
  GUEST: 'read',
  MEMBER: 'write',
  OWNER: 'admin',
};

/**
 * All grants of a user on a repository, strongest first. A page shows all of them; the first is in effect (SPEC §5).
 */
export function accessGrantsOf(personId: string, facts: RepositoryFacts): AccessGrant[] {
  const grants: AccessGrant[] = [];
  if (facts.ownerUserId === personId) grants.push({ kind: 'owner', level: 'admin' });
  const { organisationRole, teamRole, collaboratorRole } = facts;
  if (organisationRole !== null) {
    grants.push({ kind: 'organisation', role: organisationRole, level: byOrganisationRole[organisationRole] });
  }
  if (teamRole !== null) grants.push({ kind: 'team', role: teamRole, level: teamRole });
  if (collaboratorRole !== null) grants.push({ kind: 'collaborator', role: collaboratorRole, level: collaboratorRole });
  return grants.sort((a, b) => (a.level === b.level ? 0 : allows(a.level, b.level) ? -1 : 1));
}

/** A grant as text: `owner`, `organisation MEMBER`, `team write`, `collaborator write`. */
export function describeAccessGrant(grant: AccessGrant): string {
  return grant.kind === 'owner' ? 'owner' : `${grant.kind} ${grant.role}`;
}
