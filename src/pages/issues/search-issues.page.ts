import type { KeysetPage } from '../../db/index.ts';
import type { IssueFilter, IssueHit } from '../../issues/index.ts';
import { hitMarker } from '../../search/index.ts';
import { pageLinks } from '../app/list-page.view.ts';
import { page } from '../app/reply.ts';
import type { Page, RequestContext } from '../app/request-context.ts';
import { cutExcerpt } from './cut-excerpt.ts';
import type { IssuesDeps } from './deps.ts';
import { locatedOf, readIssueResults, viewRows } from './issue-results.view.ts';
import { readIssueFilter } from './issue-filter.view.ts';
import { entryUrl } from '../app/entry-urls.ts';

/** `/search/issues?q=`: issues and comments of all repositories that the viewer can read, by words and filters. */
export const showIssueSearch: Page<RequestContext, IssuesDeps> = async (context, deps) => {
  const { filter: queryFilter, unknown } = readIssueFilter(context.query);
  const text = (context.query.get('q') ?? '').trim();
  const hasQuery = text !== '';
  const hasState = /(?:^|\s)(?:is|state):(?:open|closed|all)\b/i.test(text);
  // A search includes closed issues; lists show open ones by default.
  const filter: IssueFilter = {
    ...queryFilter,
    kind: 'issue',
    state: hasState ? queryFilter.state : 'all',
    sort: sortOf(text, queryFilter),
  };
  const base = '/search/issues';
  const { view, list, isSlow } = hasQuery
    ? await readIssueResults(context, deps, base, filter, unknown)
    : {
        view: { text: '', unknown: [] },
        list: { rows: [], next: null, previous: null } as KeysetPage<IssueHit>,
        isSlow: false,
      };
  const rows = await viewRows(deps, list.rows, locatedOf(list.rows));
  const [word = ''] = filter.words;
  const mark = hitMarker(word);
  return page('issues/search-issues', {
    query: text,
    hasQuery,
    filter: view,
    issues: rows.map((row, at) => {
      const hit = list.rows[at]!;
      return {
        ...row,
        marked: mark(row.title),
        excerpt: word === '' ? [] : cutExcerpt(hit.text, word),
        matchUrl: hit.position === null || hit.position === 0 ? row.url : entryUrl(row.url, hit.position),
      };
    }),
    isSlow,
    ...pageLinks(base, list, { q: text }),
  });
};

/** Without `sort:` in the query, the last updated come first. */
const sortOf = (text: string, { sort }: IssueFilter): IssueFilter['sort'] =>
  /(?:^|\s)sort:/i.test(text) ? sort : 'updated';
