import type { OrganisationRole, RepositoryFacts, Visibility } from './repository-facts.ts';
import { repositoryLevel, scopeAllows } from './repository-level.ts';
import { isLocalAdministrator } from './viewer.ts';
import type { Viewer } from './viewer.ts';

/** Facts about the future owner of a fork that the policy needs. */
export interface ForkOwnerFacts {
  kind: 'user' | 'organisation';
  id: string;
  /** The viewer's role in the organisation. */
  role: OrganisationRole | null;
}

/** Why a fork is refused; `hidden` must look like absent, and `owner` like an absent owner. */
export type ForkRefusal = 'hidden' | 'sign_in' | 'scope' | 'owner' | 'same_owner';

/**
 * The policy of forks: a signed-in user who can read a repository may fork it, under their own handle or into an
 * organisation where they may create repositories. A token needs the scope `write` for all repositories, as for
 * creating one. A task cannot fork. Null if allowed.
 */
export function refusalToFork(viewer: Viewer, source: RepositoryFacts, owner: ForkOwnerFacts): ForkRefusal | null {
  if (repositoryLevel(viewer, source) === 'none' || source.deleted) return 'hidden';
  if (viewer.kind !== 'person') return 'sign_in';
  if (!scopeAllows(viewer, 'write') || viewer.repositoryIds !== null) return 'scope';
  if (!isLocalAdministrator(viewer) && !mayCreateFor(viewer.id, owner)) return 'owner';
  return owner.id === (source.ownerUserId ?? source.ownerOrganisationId) ? 'same_owner' : null;
}

const mayCreateFor = (personId: string, { kind, id, role }: ForkOwnerFacts): boolean =>
  kind === 'user' ? id === personId : role === 'MEMBER' || role === 'OWNER';

/** A fork starts with the visibility of its source: one of a private repository is private. */
export const visibilityOfFork = (source: Pick<RepositoryFacts, 'visibility'>): Visibility => source.visibility;

/**
 * Whether a fork may be updated: commits of a private source must not become public. Read access to the source and
 * write access to the fork are checked separately.
 */
export const maySync = (
  source: Pick<RepositoryFacts, 'visibility'>,
  fork: Pick<RepositoryFacts, 'visibility'>,
): boolean => source.visibility === 'PUBLIC' || fork.visibility === 'PRIVATE';

/**
 * Whether a repository may be made public: not a fork while its source is private, even in the trash.
 * @param source null if this is not a fork, or if the source was permanently deleted
 */
export const mayBecomePublic = (source: Pick<RepositoryFacts, 'visibility'> | null): boolean =>
  source === null || source.visibility === 'PUBLIC';
