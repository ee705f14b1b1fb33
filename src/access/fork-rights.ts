import type { OrganisationRole, RepositoryFacts, Visibility } from './repository-facts.ts';
import { repositoryLevel, scopeAllows } from './repository-level.ts';
import { isLocalAdministrator } from './viewer.ts';
import type { Viewer } from './viewer.ts';

/** What the policy needs to know of whom a fork is to belong to. */
export interface ForkOwnerFacts {
  kind: 'user' | 'organisation';
  id: string;
  /** The viewer's role in the organisation. */
  role: OrganisationRole | null;
}

/** Why a fork is refused; `hidden` must look like absent, and `owner` like an owner that is absent. */
export type ForkRefusal = 'hidden' | 'sign_in' | 'scope' | 'owner' | 'same_owner';

/**
 * The policy of forks: a signed-in person who may read a repository may fork it, under their own handle or into an
 * organisation where they may create repositories. A token needs the scope `write` for all repositories, as for making
 * one. A task forks nothing. Null when allowed.
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

/** A fork begins as its source is: one of a private repository is private. */
export const visibilityOfFork = (source: Pick<RepositoryFacts, 'visibility'>): Visibility => source.visibility;

/**
 * Whether a fork may be brought up to date: commits of a private source do not become public by it. Who may read the
 * source and write to the fork is asked beside.
 */
export const maySync = (
  source: Pick<RepositoryFacts, 'visibility'>,
  fork: Pick<RepositoryFacts, 'visibility'>,
): boolean => source.visibility === 'PUBLIC' || fork.visibility === 'PRIVATE';

/**
 * Whether a repository may be made public: a fork may not while its source is private, in the trash, too.
 * @param source null for a repository that is no fork, and for a fork whose source is gone for good
 */
export const mayBecomePublic = (source: Pick<RepositoryFacts, 'visibility'> | null): boolean =>
  source === null || source.visibility === 'PUBLIC';
