import type { ForkDivergence } from '../../repositories/index.ts';
import { repositoryUrl } from '../../http/index.ts';
import { formatList, t } from '../../translation/index.ts';
import { viewName } from '../app/printable-names.ts';
import { viewCount } from '../app/format-numbers.ts';

/** The divergence of a branch of a fork from its source. */
interface ForkDivergenceView {
  /** `2 commits ahead of`, `1 commit behind`, `level with`; joined by `and`. */
  words: string;
  source: { name: string; branch: string; url: string };
  isLevel: boolean;
  isBehind: boolean;
  /** URL of the page with details and the button. */
  url: string;
}

export function viewForkDivergence(
  { source, branch, ahead, behind, oid }: ForkDivergence,
  url: string,
): ForkDivergenceView {
  const parts = [
    ...(ahead > 0 ? [t('repository.fork_divergence.ahead', { commits: viewCount(ahead, 'commit') })] : []),
    ...(behind > 0 ? [t('repository.fork_divergence.behind', { commits: viewCount(behind, 'commit') })] : []),
  ];
  return {
    words:
      oid === null
        ? t('repository.fork_divergence.not_here')
        : parts.length === 0
          ? t('repository.fork_divergence.level')
          : formatList(parts),
    source: { name: `${source.owner}/${source.name}`, branch: viewName(branch), url: repositoryUrl(source) },
    isLevel: oid !== null && parts.length === 0,
    isBehind: behind > 0 || oid === null,
    url: `${url}/sync?${new URLSearchParams({ branch })}`,
  };
}
