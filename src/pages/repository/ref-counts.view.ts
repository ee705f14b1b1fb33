import { viewCount } from '../app/format-numbers.ts';

/** `3 branches`, `12 tags`; no tags, no word. */
export interface RefCountsView {
  branches: string;
  tags: string | null;
}

export function viewRefCounts(refs: ReadonlyMap<string, string>): RefCountsView {
  const names = [...refs.keys()];
  const tags = names.filter((name) => name.startsWith('refs/tags/')).length;
  return {
    branches: viewCount(names.filter((name) => name.startsWith('refs/heads/')).length, 'branch', 'branches'),
    tags: tags === 0 ? null : viewCount(tags, 'tag'),
  };
}
