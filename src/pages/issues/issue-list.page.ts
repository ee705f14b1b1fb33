import { formatIssueQuery } from '../../issues/index.ts';
import { repositoryUrl } from '../../http/index.ts';
import { page, seeOther } from '../app/reply.ts';
import type { PageReply } from '../app/reply.ts';
import type { Page, RepositoryContext } from '../app/request-context.ts';
import { bulkChange } from './bulk-change.page.ts';
import type { IssuesDeps } from './deps.ts';
import { issueListUrl, readIssueFilter } from './issue-filter.view.ts';
import { viewIssueRow } from './issue-row.view.ts';
import { readRepositoryIssueList } from './repository-issue-list.ts';
import type { IssueListState } from './repository-issue-list.ts';

async function issueListPage(
  context: RepositoryContext,
  deps: IssuesDeps,
  state: IssueListState = {},
): Promise<PageReply> {
  const { found, viewer } = context;
  const at = found.canonical;
  const { rows, filter, isFirst, isSelected, mayTriage, rowContext, shown } = await readRepositoryIssueList(
    context,
    deps,
    'ISSUE',
    state,
  );
  const pinned = isFirst && formatIssueQuery(filter) === 'is:open' ? await deps.issues.listPinned(viewer, at) : [];
  const around = await rowContext(pinned);
  const held = mayTriage ? await deps.issues.listHeld(viewer, at) : [];
  return page('issues/issue-list', {
    ...shown,
    issues: rows.map((row) => ({ ...viewIssueRow(row, around), isSelected: isSelected(row) })),
    pinned: pinned.map((row) => viewIssueRow(row, around)),
    mayModerate: mayTriage,
    /** Entries that wait for a member; reads at most a hundred. */
    held: held.length,
  });
}

/** `B/issues`: open issues, filtered by `q` and the fields of `readIssueFilter`; `is:pull` redirects to `B/pulls`. */
export const showIssueList: Page<RepositoryContext, IssuesDeps> = async (context, deps) => {
  const { filter } = readIssueFilter(context.query);
  if (filter.kind === 'issue') return issueListPage(context, deps);
  return seeOther(issueListUrl(`${repositoryUrl(context.found.canonical)}/pulls`, { ...filter, kind: 'issue' }));
};

/** `POST B/issues/bulk`. */
export const changeIssues = bulkChange('ISSUE', issueListPage);
