import { GlobMatcher } from './glob.ts';
import type { Filter, PushTrigger } from './workflow.ts';

/** A push to one ref, as filters see it. */
export interface PushedRef {
  kind: 'branch' | 'tag';
  /** Without `refs/heads/` or `refs/tags/`. */
  name: string;
  /** Changed files; null if there are too many, or nothing to compare with. */
  changedPaths: readonly string[] | null;
}

/**
 * Whether a push triggers a workflow. All filters must match; branch and tag filters apply only to refs of their kind,
 * so that a filter on branches alone excludes tags. Filters by path are ignored for tags, and match if the changed
 * files are unknown. Throws `TooManySteps`.
 */
export function matchesPush({ branches, tags, paths }: PushTrigger, ref: PushedRef, glob = new GlobMatcher()): boolean {
  const own = ref.kind === 'branch' ? branches : tags;
  const other = ref.kind === 'branch' ? tags : branches;
  if (own === null && other !== null) return false;
  if (own !== null && !passes(glob, own, ref.name)) return false;
  if (ref.kind === 'tag' || paths === null || ref.changedPaths === null) return true;
  return ref.changedPaths.some((path) => passes(glob, paths, path));
}

/** `paths-ignore` requires one changed file outside the list, `paths` one inside. */
function passes(glob: GlobMatcher, filter: Filter, name: string): boolean {
  return glob.allows(filter.patterns, name) === (filter.kind === 'only');
}
