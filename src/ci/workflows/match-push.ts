import { GlobMatcher } from './glob.ts';
import type { Filter, PushTrigger } from './workflow.ts';

/** What a push did to one ref, as far as filters look at it. */
export interface PushedRef {
  kind: 'branch' | 'tag';
  /** Without `refs/heads/` or `refs/tags/`. */
  name: string;
  /** Files that changed; null when there are too many to tell, or nothing to compare with. */
  changedPaths: readonly string[] | null;
}

/**
 * Whether a push starts a workflow. All kinds of filters must agree; of branches
 * and tags the one that the ref belongs to, so that a filter on branches alone
 * leaves tags out. Paths are not looked at for tags, and let everything in when
 * nobody can say what changed.
 * Throws `TooManySteps`.
 */
export function matchesPush({ branches, tags, paths }: PushTrigger, ref: PushedRef, glob = new GlobMatcher()): boolean {
  const own = ref.kind === 'branch' ? branches : tags;
  const other = ref.kind === 'branch' ? tags : branches;
  if (own === null && other !== null) return false;
  if (own !== null && !passes(glob, own, ref.name)) return false;
  if (ref.kind === 'tag' || paths === null || ref.changedPaths === null) return true;
  return ref.changedPaths.some((path) => passes(glob, paths, path));
}

/** For `paths-ignore` one changed file outside the list is enough, for `paths` one inside. */
function passes(glob: GlobMatcher, filter: Filter, name: string): boolean {
  return glob.allows(filter.patterns, name) === (filter.kind === 'only');
}
