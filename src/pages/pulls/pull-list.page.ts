import { viewCloneBox } from '../../http/index.ts';
import { page } from '../app/reply.ts';
import type { PageReply } from '../app/reply.ts';
import type { Page, RepositoryContext } from '../app/request-context.ts';
import { bulkChange } from '../issues/bulk-change.page.ts';
import { readRepositoryIssueList } from '../issues/repository-issue-list.ts';
import type { IssueListState } from '../issues/repository-issue-list.ts';
import type { PullsDeps } from './deps.ts';
import { readPullSizes } from './pull-sizes.ts';
import { viewPullRow } from './pull-row.view.ts';

async function pullListPage(
  context: RepositoryContext,
  deps: PullsDeps,
  state: IssueListState = {},
): Promise<PageReply> {
  const { rows, isSelected, rowContext, shown } = await readRepositoryIssueList(context, deps, 'PULL', state);
  const [around, described] = await Promise.all([rowContext(), deps.pulls.describe(context.viewer, rows)]);
  const pulls = [...described.values()].map(({ pull }) => pull);
  const sizes = await readPullSizes(deps, context.found.path, pulls);
  return page('pulls/pull-list', {
    ...shown,
    pulls: rows.map((row) => ({
      ...viewPullRow(row, described.get(row.id), around),
      size: sizes.get(row.id) ?? null,
      isSelected: isSelected(row),
    })),
    ...(await howToContribute(context, deps)),
  });
}

/** `B/pulls`: open pull requests, filtered by `q` and the fields of `readIssueFilter`. */
export const showPullList: Page<RepositoryContext, PullsDeps> = (context, deps) => pullListPage(context, deps);

/** `POST B/pulls/bulk`. */
export const changePulls = bulkChange('PULL', pullListPage);

/** For the empty list: the ways to open the first one, with the URLs of this repository. */
async function howToContribute({ found, origin, preferences }: RepositoryContext, deps: PullsDeps) {
  const { branch, oid } = await deps.git.refs.head(found.path);
  return {
    defaultBranch: branch ?? found.repository.defaultBranch,
    isEmpty: oid === null,
    clone: viewCloneBox({
      origin,
      ...found.canonical,
      ssh: deps.ssh(),
      config: deps.config,
      preferred: preferences.clone,
    }),
  };
}
