/** The short names of a listing of refs, in its order. */
export interface RefNames {
  branches: readonly string[];
  tags: readonly string[];
  /** Whether there are refs of pull requests. */
  hasPulls: boolean;
}

const known = new WeakMap<ReadonlyMap<string, string>, RefNames>();
const heads = 'refs/heads/';
const tagsFolder = 'refs/tags/';
const pulls = 'refs/pull/';

/**
 * Found once for each listing: a page must not walk the names of a hundred thousand refs.
 * @param refs of `cachedRefs`
 */
export function namesOfRefs(refs: ReadonlyMap<string, string>): RefNames {
  const found = known.get(refs);
  if (found !== undefined) return found;
  const branches: string[] = [];
  const tags: string[] = [];
  let hasPulls = false;
  for (const name of refs.keys())
    if (name.startsWith(heads)) branches.push(name.slice(heads.length));
    else if (name.startsWith(tagsFolder)) tags.push(name.slice(tagsFolder.length));
    else hasPulls ||= name.startsWith(pulls);
  const names = { branches, tags, hasPulls };
  known.set(refs, names);
  return names;
}
