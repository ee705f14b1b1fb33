import { personIdOf, repositoryLevel } from '../access/index.ts';
import type { Viewer } from '../access/index.ts';
import type { Located, Repository } from '../repositories/index.ts';
import type { PullDeps } from './deps.ts';
import type { PullRow } from './schema/pull-schema.ts';

/** The head of a pull request, as far as a viewer may know it. */
export interface PullHead {
  /** `topic`, `bob/fork:topic`; for a push its topic, or a label by the caller like `refs/pull/7/head`. */
  label: string;
  /** Null for a push, for a deleted repository, and for one that the viewer cannot read. */
  repository: Located | null;
  branch: string | null;
}

/** Finds the head of a pull request for a viewer; hides the name of a private fork from others. */
export async function headOf(
  deps: Pick<PullDeps, 'repositories'>,
  viewer: Viewer,
  base: Pick<Repository, 'id'>,
  pull: Pick<PullRow, 'headRepositoryId' | 'headBranch' | 'topic' | 'source'>,
): Promise<PullHead> {
  const { headRepositoryId, headBranch, topic, source } = pull;
  if (source === 'PUSH') return { label: topic ?? 'a push', repository: null, branch: null };
  const located =
    headRepositoryId === null ? undefined : (await deps.repositories.locate([headRepositoryId])).get(headRepositoryId);
  if (located === undefined)
    return { label: headBranch ?? 'a branch that is gone', repository: null, branch: headBranch };
  if (headRepositoryId === base.id) return { label: headBranch ?? '', repository: located, branch: headBranch };
  const facts = await deps.repositories.factsOf(personIdOf(viewer), located.repository);
  if (repositoryLevel(viewer, facts) === 'none')
    return { label: headBranch ?? 'a private fork', repository: null, branch: headBranch };
  const label = `${located.owner.handle}/${located.repository.name}:${headBranch}`;
  return { label, repository: located, branch: headBranch };
}
