import { accessGrantsOf } from './access-grants.ts';
import { allows } from './level.ts';
import type { Level } from './level.ts';
import type { RepositoryFacts } from './repository-facts.ts';
import { repositoryLevel } from './repository-level.ts';
import { isLocalAdministrator } from './viewer.ts';
import type { Viewer } from './viewer.ts';

/** What the policy for Git LFS needs to know of a repository, besides the viewer's grants on it. */
export interface LfsRepositoryFacts extends RepositoryFacts {
  archived: boolean;
  /** Whether the viewer may propose changes here by a pull request, which may have objects of its own. */
  mayPropose: boolean;
}

/**
 * `download` is to read objects and locks; `upload` to store objects; `lock` to lock files, and to unlock one's own;
 * `unlock_others` to remove locks of other people; `manage` to switch LFS on and off.
 */
export type LfsAct = 'download' | 'upload' | 'lock' | 'unlock_others' | 'manage';

/** Why an act is refused; `hidden` must look like absent. */
export type LfsRefusal = 'hidden' | 'sign_in' | 'level' | 'archived';

/**
 * The policy of Git LFS; null is yes. A lock belongs to a person, so a task of the CI has none. For the locks of others
 * the role counts, not the scope of the credential, which only has to reach far enough to write: as with rules.
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

/** Whether an upload is a contribution of a person who may not write here, for which a smaller limit holds. */
export const isContributedUpload = (viewer: Viewer, repository: RepositoryFacts): boolean =>
  !allows(repositoryLevel(viewer, repository), 'write');
