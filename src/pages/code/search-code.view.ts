import { formatNumber, t } from '../../translation/index.ts';
import type { GrepLine } from '../../git/index.ts';
import { markHits } from '../../search/index.ts';
import type { CodeHit, Coverage, TextSegment } from '../../search/index.ts';
import { codeUrl } from '../app/code-urls.ts';
import { viewCodeText, viewName } from '../app/printable-names.ts';
import { viewCount } from '../app/format-numbers.ts';
import { repositoryUrl } from '../../http/index.ts';
import type { TabClasses } from './read-editor-configs.ts';

/** A file with matches. */
interface CodeFileView {
  /** `owner/name`; null on a page of one repository. */
  repository: { name: string; url: string; isPrivate: boolean } | null;
  path: string;
  url: string;
  /** The CSS class of its tab width; null for the default. */
  tabs: string | null;
  lines: { number: number; url: string; segments: TextSegment[] }[];
}

const maxLineLength = 300;

/**
 * @param query text to mark; empty marks nothing
 */
function viewLine(number: number, text: string, query: string, fileUrl: string) {
  const cut = text.length > maxLineLength ? `${text.slice(0, maxLineLength).toWellFormed()}…` : text;
  const segments = markHits(cut, query).map(({ text, isHit }) => ({ text: viewCodeText(text), isHit }));
  return { number, url: `${fileUrl}#L${number}`, segments };
}

/** Results from many repositories. */
export function viewCodeHit(
  { located: { repository, owner }, path, commit, lines }: CodeHit,
  query: string,
  tabsOf: TabClasses,
): CodeFileView {
  const address = { owner: owner.handle, name: repository.name };
  const repositoryPage = repositoryUrl(address);
  const url = codeUrl(repositoryPage, 'blob', commit, Buffer.from(path));
  return {
    repository: {
      name: `${address.owner}/${address.name}`,
      url: repositoryPage,
      isPrivate: repository.visibility === 'PRIVATE',
    },
    path: viewName(path),
    url,
    tabs: tabsOf(path),
    lines: lines.map(({ number, text }) => viewLine(number, text, query, url)),
  };
}

/** Results from one repository, by file. */
export function viewGrep(
  lines: readonly GrepLine[],
  repositoryPage: string,
  ref: string,
  query: string,
  tabsOf: TabClasses,
): CodeFileView[] {
  const byFile = Map.groupBy(lines, ({ file }) => file.toString('latin1'));
  return [...byFile].map(([file, found]) => {
    const path = Buffer.from(file, 'latin1');
    const url = codeUrl(repositoryPage, 'blob', ref, path);
    return {
      repository: null,
      path: viewName(path.toString()),
      url,
      tabs: tabsOf(path.toString()),
      lines: found.map(({ number, text }) => viewLine(number, text.toString(), query, url)),
    };
  });
}

/**
 * `Searched 43 of 45 repositories; 2 are over the size limit.` Repositories that the viewer cannot read are not
 * counted.
 */
export function viewCoverage({ visible, searched, tooLarge }: Coverage): string {
  const behind = visible - searched - tooLarge;
  const rest = [
    tooLarge > 0 ? t('code.search_code.too_large', { count: tooLarge }) : null,
    behind > 0 ? t('code.search_code.behind', { count: behind }) : null,
  ].filter((part) => part !== null);
  return (
    [
      t('code.search_code.searched', { searched: formatNumber(searched), all: viewCount(visible, 'repository') }),
      ...rest,
    ].join('; ') + '.'
  );
}
