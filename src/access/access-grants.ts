import { allows } from './level.ts';
import type { Level } from './level.ts';
import type { CollaboratorRole, OrganisationRole, RepositoryFacts } from './repository-facts.ts';

/** One thing that connects a person with a repository, and the right that it gives. */
export type AccessGrant =
  | { kind: 'owner'; level: 'admin' }
  | { kind: 'organisation'; role: OrganisationRole; level: Level }
  | { kind: 'collaborator'; role: CollaboratorRole; level: Level };

const byOrganisationRole: Record<OrganisationRole, Level> = {
  GUEST: 'read',
  MEMBER: 'write',
  OWNER: 'admin',
};

/**
 * Everything that ties a person to a repository, the strongest first: a page
 * shows them all, and the first is the one that counts (SPEC §5).
 */
export function accessGrantsOf(personId: string, facts: RepositoryFacts): AccessGrant[] {
  const ties: AccessGrant[] = [];
  if (facts.ownerUserId === personId) ties.push({ kind: 'owner', level: 'admin' });
  const { organisationRole, collaboratorRole } = facts;
  if (organisationRole !== null) {
    ties.push({ kind: 'organisation', role: organisationRole, level: byOrganisationRole[organisationRole] });
  }
  if (collaboratorRole !== null) ties.push({ kind: 'collaborator', role: collaboratorRole, level: collaboratorRole });
  return ties.sort((a, b) => (a.level === b.level ? 0 : allows(a.level, b.level) ? -1 : 1));
}

/** A tie in words: `owner`, `organisation MEMBER`, `collaborator write`. */
export function describeAccessGrant(tie: AccessGrant): string {
  return tie.kind === 'owner' ? 'owner' : `${tie.kind} ${tie.role}`;
}
