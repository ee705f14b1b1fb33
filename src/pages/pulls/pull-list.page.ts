import type { IssueFilter } from '../../issues/index.ts';
import { repositoryUrl, viewCloneBox } from '../../http/index.ts';
import { pageLinks } from '../app/list-page.view.ts';
import { viewNotice } from '../app/notices.view.ts';
import { page } from '../app/reply.ts';
import { viewRepositoryHead } from '../app/repository-head.view.ts';
import type { Page, RepositoryContext } from '../app/request-context.ts';
import { issueListUrl, readIssueFilter, viewIssueFilter } from '../issues/issue-filter.view.ts';
import { readList } from '../issues/issue-list.page.ts';
import { readPeople } from '../issues/issue-row.view.ts';
import type { PullsDeps } from './deps.ts';
import { viewPullRow } from './pull-row.view.ts';

/** `B/pulls`: what is open, narrowed down by `q` and the fields of `readIssueFilter`. */
export const showPullList: Page<RepositoryContext, PullsDeps> = async (context, deps) => {
  const { found, viewer, query } = context;
  const { issues, clock } = deps;
  const at = found.canonical;
  const url = repositoryUrl(at);
  const base = `${url}/pulls`;
  const { filter: queryFilter, unknown } = readIssueFilter(query);
  const { owner, repository, ...rest } = queryFilter;
  // Here, they would narrow nothing down.
  const scopeWords = [owner === null ? null : `owner:${owner}`, repository === null ? null : `repo:${repository}`];
  // All of this list are pull requests: the box need not say it.
  const filter: IssueFilter = { ...rest, kind: 'issue', owner: null, repository: null };
  const isFirst = !query.has('after') && !query.has('before');
  const [labels, milestones, counts, may, { list, isSlow }] = await Promise.all([
    issues.listLabels(viewer, at),
    issues.listMilestones(viewer, at),
    issues.count(found.repository.id),
    issues.rightsIn(viewer, at, 'PULL'),
    readList(context, deps, { ...filter, kind: 'pull' }, query),
  ]);
  const [people, described] = await Promise.all([readPeople(deps, list.rows), deps.pulls.describe(viewer, list.rows)]);
  const rowContext = {
    repositoryUrl: url,
    people,
    milestones: new Map(milestones.map((milestone) => [milestone.id, milestone])),
    labelUrl: (label: string) => issueListUrl(base, { ...filter, labels: [label], noLabel: false }),
    now: clock.now(),
  };
  const view = viewIssueFilter(
    base,
    { filter, unknown: [...unknown, ...scopeWords.filter((word) => word !== null)] },
    {
      labels,
      milestones: milestones.filter(({ closedAt, title }) => closedAt === null || title === filter.milestone),
      counts: { open: counts.openPulls, closed: counts.closedPulls },
      isSignedIn: context.person !== null,
      isOfPulls: true,
    },
  );
  return page('pulls/pull-list', {
    repository: viewRepositoryHead(found),
    filter: view,
    pulls: list.rows.map((row) => viewPullRow(row, described.get(row.id), rowContext)),
    ...pageLinks(base, list, { q: view.text }),
    isFirst,
    isSlow,
    hasAny: counts.openPulls + counts.closedPulls > 0,
    isOff: !found.issues.pulls.isOn,
    mayOpen: may('contribute') === null,
    maySignIn: may('contribute') === 'sign_in' && found.issues.pulls.isOn,
    ...(await howToContribute(context, deps)),
    notice: viewNotice(query),
  });
};

/** For the empty list: the ways to open the first one, with the addresses of this repository. */
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
