import { allows } from './level.ts';
import type { RepositoryFacts } from './repository-facts.ts';
import { repositoryLevel } from './repository-level.ts';
import type { Viewer } from './viewer.ts';

/** What the policy of releases needs to know of a repository, besides the viewer's grants on it. */
export interface ReleaseRepositoryFacts extends RepositoryFacts {
  archived: boolean;
}

/** What it needs to know of one release. */
interface ReleaseFacts {
  draft: boolean;
}

/**
 * `read` includes the files; `write` is to create, edit, publish and delete a release, and to change its files. The tag
 * that comes or goes with it is judged as a push is, by the rules of the repository.
 */
export type ReleaseAct = 'read' | 'write';

/** Why an act is refused; `hidden` must look like absent. */
export type ReleaseRefusal = 'hidden' | 'sign_in' | 'archived' | 'scope' | 'level';

/**
 * The policy of releases: what a viewer may do with one; null is yes. Who reads the repository reads what is published;
 * who may write to it sees drafts and does the rest, a task of the CI by its `permissions`, too.
 * @param release null for the repository as a whole: the list, and what is to be created
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
  // Tags are pushed; the release beside them is for people and tasks.
  if (viewer.kind === 'deployKey') return 'level';
  if (repository.archived) return 'archived';
  if (writes) return null;
  return allows(viewer.scope, 'write') ? 'level' : 'scope';
}
