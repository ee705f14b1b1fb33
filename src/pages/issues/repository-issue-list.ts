import type { KeysetPage } from '../../db/index.ts';
import type { FoundIssue, IssueFilter, IssueKind, ListedIssue } from '../../issues/index.ts';
import { isDomainError } from '../../kernel/index.ts';
import { repositoryUrl } from '../../http/index.ts';
import { listPage, pageLinks } from '../app/list-page.view.ts';
import { viewFlashMessage } from '../app/flash-messages.view.ts';
import { viewRepositoryHeader } from '../app/repository-header.view.ts';
import type { RepositoryContext } from '../app/request-context.ts';
import type { FormRefusal } from '../app/submit-form.ts';
import type { IssuesDeps } from './deps.ts';
import { issueListUrl, readIssueFilter, viewIssueFilter } from './issue-filter.view.ts';
import type { RowContext } from './issue-row.view.ts';
import { readPeople } from './issue-row.view.ts';

/** The results for the selected issues of a bulk action. */
interface BulkResult {
  changed: number[];
  refused: { number: number; message: string }[];
}

/** The content of a list after a bulk action that was refused, wholly or in part. */
export interface IssueListState {
  result?: BulkResult | null;
  refusal?: FormRefusal | null;
  /** Numbers of the issues that stay selected. */
  selected?: readonly number[];
  query?: URLSearchParams;
}

/** `B/issues` or `B/pulls`. */
export const listUrl = ({ found }: Pick<RepositoryContext, 'found'>, kind: IssueKind): string =>
  `${repositoryUrl(found.canonical)}/${kind === 'PULL' ? 'pulls' : 'issues'}`;

/** The list of the issues of a repository, or of its pull requests, with the common frame of both pages. */
export async function readRepositoryIssueList(
  context: RepositoryContext,
  deps: IssuesDeps,
  kind: IssueKind,
  { result = null, refusal = null, selected = [], query = context.query }: IssueListState,
) {
  const { found, viewer } = context;
  const { issues, clock } = deps;
  const at = found.canonical;
  const base = listUrl(context, kind);
  const isOfPulls = kind === 'PULL';
  const { filter: queryFilter, unknown } = readIssueFilter(query);
  const { owner, repository, ...rest } = queryFilter;
  // These terms would filter nothing here.
  const scopeWords = [owner === null ? null : `owner:${owner}`, repository === null ? null : `repo:${repository}`];
  // The search box does not repeat the kind of the list.
  const filter: IssueFilter = { ...rest, kind: 'issue', owner: null, repository: null };
  const isFirst = !query.has('after') && !query.has('before');
  const [labels, milestones, counts, may, { list, isSlow }] = await Promise.all([
    issues.listLabels(viewer, at),
    issues.listMilestones(viewer, at),
    issues.count(found.repository.id),
    issues.rightsIn(viewer, at, kind),
    readList(context, deps, isOfPulls ? { ...filter, kind: 'pull' } : filter, query),
  ]);
  const [open, closed] = isOfPulls ? [counts.openPulls, counts.closedPulls] : [counts.openIssues, counts.closedIssues];
  const isOn = isOfPulls ? found.issues.pulls.isOn : found.issues.isOn;
  const view = viewIssueFilter(
    base,
    { filter, unknown: [...unknown, ...scopeWords.filter((term) => term !== null)] },
    {
      labels,
      milestones: milestones.filter(({ closedAt, title }) => closedAt === null || title === filter.milestone),
      counts: { open, closed },
      isSignedIn: context.person !== null,
      isOfPulls,
    },
  );
  const rowContext: Omit<RowContext, 'people'> = {
    repositoryUrl: repositoryUrl(at),
    milestones: new Map(milestones.map((milestone) => [milestone.id, milestone])),
    labelUrl: (label: string) => issueListUrl(base, { ...filter, labels: [label], noLabel: false }),
    now: clock.now(),
  };
  const mayTriage = may('triage') === null;
  return {
    rows: list.rows,
    filter,
    isFirst,
    mayTriage,
    isSelected: ({ number }: FoundIssue): boolean => selected.includes(number),
    /** @param more rows besides those of the list */
    rowContext: async (more: readonly ListedIssue[] = []): Promise<RowContext> => ({
      ...rowContext,
      people: await readPeople(deps, [...list.rows, ...more]),
    }),
    /** Locals of the template. */
    shown: {
      repository: viewRepositoryHeader(found),
      list: base,
      filter: view,
      ...pageLinks(base, list, { q: view.text }),
      isFirst,
      isSlow,
      hasAny: open + closed > 0,
      isOff: !isOn,
      mayOpen: may('contribute') === null,
      maySignIn: may('contribute') === 'sign_in' && isOn,
      bulk: mayTriage
        ? { labels: labels.map(({ name }) => name), milestones: milestones.map(({ title }) => title) }
        : null,
      result,
      refusal,
      notice: viewFlashMessage(query),
    },
  };
}

/** A text search that takes too long shows an error on the page, not an error page. */
async function readList(
  { found, viewer }: RepositoryContext,
  { issues }: IssuesDeps,
  filter: IssueFilter,
  query: URLSearchParams,
): Promise<{ list: KeysetPage<FoundIssue>; isSlow: boolean }> {
  try {
    const list = await listPage((paging) => issues.list(viewer, found.canonical, filter, paging), query);
    return { list, isSlow: false };
  } catch (error) {
    if (!isDomainError(error) || (error.reason !== 'took_too_long' && error.reason !== 'too_many_waiting')) throw error;
    return { list: { rows: [], next: null, previous: null }, isSlow: true };
  }
}
