import { namesOfRefs } from '../../git/index.ts';
import { viewCount } from '../app/format-numbers.ts';

/** `3 branches`, `12 tags`; no tags, no word. */
export interface RefCountsView {
  branches: string;
  tags: string | null;
}

export function viewRefCounts(refs: ReadonlyMap<string, string>): RefCountsView {
  const { branches, tags } = namesOfRefs(refs);
  return {
    branches: viewCount(branches.length, 'branch', 'branches'),
    tags: tags.length === 0 ? null : viewCount(tags.length, 'tag'),
  };
}
