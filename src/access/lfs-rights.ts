import { accessGrantsOf } from './access-grants.ts';
import { allows } from './level.ts';
import type { Level } from './level.ts';
import type { RepositoryFacts } from './repository-facts.ts';
import { repositoryLevel } from './repository-level.ts';
import { isLocalAdministrator } from './viewer.ts';
import type { Viewer } from './viewer.ts';

/** Facts about a repository that the Git LFS policy needs, besides the viewer's grants on it. */
export interface LfsRepositoryFacts extends RepositoryFacts {
  archived: boolean;
  /** Whether the viewer may propose changes here by a pull request, which may bring its own objects. */
  mayPropose: boolean;
}

/**
 * `download` is to read objects and locks; `upload` to store objects; `lock` to lock files, and to unlock one's own;
 * `unlock_others` to remove other users' locks; `manage` to turn LFS on and off.
 */
export type LfsAct = 'download' | 'upload' | 'lock' | 'unlock_others' | 'manage';

/** Why an action is refused; `hidden` must look like absent. */
export type LfsRefusal = 'hidden' | 'sign_in' | 'level' | 'archived';

/**
 * The policy of Git LFS; null if allowed. A lock belongs to a user, so a CI task cannot hold one. For other users'
 * locks the role counts, not the credential's scope, which only needs to allow writing: as with rules.
 */
export function refusalOnLfs(viewer: Viewer, repository: LfsRepositoryFacts, act: LfsAct): LfsRefusal | null {
  const level = repositoryLevel(viewer, repository);
  if (level === 'none') return 'hidden';
  if (act === 'download') return null;
  if (viewer.kind === 'anonymous') return 'sign_in';
  if (!isAllowed(viewer, repository, level, act)) return 'level';
  return repository.archived && act !== 'manage' ? 'archived' : null;
}

function isAllowed(viewer: Viewer, repository: LfsRepositoryFacts, level: Level, act: LfsAct): boolean {
  if (act === 'upload') return allows(level, 'write') || repository.mayPropose;
  if (viewer.kind !== 'person') return false;
  if (act === 'manage') return allows(level, 'admin');
  if (!allows(level, 'write')) return false;
  const role = isLocalAdministrator(viewer) ? 'admin' : accessGrantsOf(viewer.id, repository)[0]?.level;
  return act === 'lock' || allows(role ?? 'none', 'admin');
}

/** Whether an upload is a contribution by a user without write access, which has a smaller limit. */
export const isContributedUpload = (viewer: Viewer, repository: RepositoryFacts): boolean =>
  !allows(repositoryLevel(viewer, repository), 'write');
