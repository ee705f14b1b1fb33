import type { RefListing } from '../../git/index.ts';
import { viewCount } from '../app/format-numbers.ts';

/** `3 branches`, `12 tags`; empty without tags. */
interface RefCountsView {
  branches: string;
  tags: string | null;
}

export function viewRefCounts(refs: RefListing): RefCountsView {
  const tags = refs.count('refs/tags/');
  return {
    branches: viewCount(refs.count('refs/heads/'), 'branch'),
    tags: tags === 0 ? null : viewCount(tags, 'tag'),
  };
}
