import { allows } from './level.ts';
import type { RepositoryFacts } from './repository-facts.ts';
import { repositoryLevel } from './repository-level.ts';
import type { Viewer } from './viewer.ts';

/** Facts about a repository that the release policy needs, besides the viewer's grants on it. */
export interface ReleaseRepositoryFacts extends RepositoryFacts {
  archived: boolean;
}

/** Facts about one release that the policy needs. */
interface ReleaseFacts {
  draft: boolean;
}

/**
 * `read` includes the files; `write` is to create, edit, publish and delete a release, and to change its files.
 * Creating or deleting its tag is checked like a push, by the rules of the repository.
 */
export type ReleaseAct = 'read' | 'write';

/** Why an action is refused; `hidden` must look like absent. */
export type ReleaseRefusal = 'hidden' | 'sign_in' | 'archived' | 'scope' | 'level';

/**
 * The policy of releases: what a viewer may do with one; null if allowed. Readers of the repository can read published
 * releases; users with write access also see drafts and may do the rest, and so may CI tasks with the `permissions` for
 * it.
 * @param release null for the whole repository: its list, and creating a release
 */
export function refusalOnRelease(
  viewer: Viewer,
  repository: ReleaseRepositoryFacts,
  release: ReleaseFacts | null,
  act: ReleaseAct,
): ReleaseRefusal | null {
  const level = repositoryLevel(viewer, repository);
  const writes = allows(level, 'write');
  if (level === 'none' || (release?.draft === true && !writes)) return 'hidden';
  if (act === 'read') return null;
  if (viewer.kind === 'anonymous') return 'sign_in';
  // Deploy keys can push tags; releases are for users and tasks.
  if (viewer.kind === 'deployKey') return 'level';
  if (repository.archived) return 'archived';
  if (writes) return null;
  return allows(viewer.scope, 'write') ? 'level' : 'scope';
}
