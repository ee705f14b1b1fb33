import type { KeysetPage } from '../../db/index.ts';
import type { FoundIssue, IssueChange, IssueFilter } from '../../issues/index.ts';
import { formatIssueQuery } from '../../issues/index.ts';
import { invalid, isDomainError } from '../../kernel/index.ts';
import { repositoryUrl } from '../../http/index.ts';
import { listPage, pageLinks } from '../app/list-page.view.ts';
import { viewNotice } from '../app/notices.view.ts';
import { page, seeOther } from '../app/reply.ts';
import type { PageReply } from '../app/reply.ts';
import { viewRepositoryHead } from '../app/repository-head.view.ts';
import type { Page, RepositoryContext, RepositoryPersonContext } from '../app/request-context.ts';
import { submit } from '../app/submit.ts';
import type { FormRefusal } from '../app/submit.ts';
import type { IssuesDeps } from './deps.ts';
import { issueListUrl, readIssueFilter, viewIssueFilter } from './issue-filter.view.ts';
import { readPeople, viewIssueRow } from './issue-row.view.ts';

/** What happened to the selected issues of a bulk action. */
interface BulkResult {
  changed: number[];
  refused: { number: number; message: string }[];
}

interface ListState {
  result?: BulkResult | null;
  refusal?: FormRefusal | null;
  /** Numbers that stay selected. */
  selected?: readonly number[];
  query?: URLSearchParams;
}

async function issueListPage(
  context: RepositoryContext,
  deps: IssuesDeps,
  { result = null, refusal = null, selected = [], query = context.query }: ListState = {},
): Promise<PageReply> {
  const { found, viewer } = context;
  const { issues, clock } = deps;
  const at = found.canonical;
  const url = repositoryUrl(at);
  const base = `${url}/issues`;
  const { filter: queryFilter, unknown } = readIssueFilter(query);
  const { owner, repository, ...rest } = queryFilter;
  // Here, they would narrow nothing down.
  const scopeWords = [owner === null ? null : `owner:${owner}`, repository === null ? null : `repo:${repository}`];
  const filter: IssueFilter = { ...rest, kind: 'issue', owner: null, repository: null };
  const isFirst = !query.has('after') && !query.has('before');
  const [labels, milestones, counts, may, pinned, slow] = await Promise.all([
    issues.listLabels(viewer, at),
    issues.listMilestones(viewer, at),
    issues.count(found.repository.id),
    issues.rightsIn(viewer, at),
    isFirst && formatIssueQuery(filter) === 'is:open' ? issues.listPinned(viewer, at) : [],
    readList(context, deps, filter, query),
  ]);
  const { rows, next, previous } = slow.list;
  const people = await readPeople(deps, [...rows, ...pinned]);
  const rowContext = {
    repositoryUrl: url,
    people,
    milestones: new Map(milestones.map((milestone) => [milestone.id, milestone])),
    labelUrl: (label: string) => issueListUrl(base, { ...filter, labels: [label], noLabel: false }),
    now: clock.now(),
  };
  const view = viewIssueFilter(
    base,
    { filter, unknown: [...unknown, ...scopeWords.filter((term) => term !== null)] },
    {
      labels,
      milestones: milestones.filter(({ closedAt, title }) => closedAt === null || title === filter.milestone),
      counts: { open: counts.openIssues, closed: counts.closedIssues },
      isSignedIn: context.person !== null,
    },
  );
  const mayTriage = may('triage') === null;
  const held = mayTriage ? await issues.listHeld(viewer, at) : [];
  return page('issues/issue-list', {
    repository: viewRepositoryHead(found),
    filter: view,
    issues: rows.map((row) => ({ ...viewIssueRow(row, rowContext), isSelected: selected.includes(row.number) })),
    pinned: pinned.map((row) => viewIssueRow(row, rowContext)),
    ...pageLinks(base, { next, previous }, { q: view.text }),
    isFirst,
    isSlow: slow.isSlow,
    hasAny: counts.openIssues + counts.closedIssues > 0,
    isOff: !found.issues.isOn,
    mayOpen: may('contribute') === null,
    maySignIn: may('contribute') === 'sign_in' && found.issues.isOn,
    mayModerate: mayTriage,
    /** What waits for a member; a hundred at most are read. */
    held: held.length,
    bulk: mayTriage
      ? { labels: labels.map(({ name }) => name), milestones: milestones.map(({ title }) => title) }
      : null,
    result,
    refusal,
    notice: viewNotice(query),
  });
}

/** A search of texts that takes too long shows an error on the page, not an error page. */
export async function readList(
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

/** `B/issues`: what is open, narrowed down by `q` and the fields of `readIssueFilter`; `is:pull` leads to `B/pulls`. */
export const showIssueList: Page<RepositoryContext, IssuesDeps> = async (context, deps) => {
  const { filter } = readIssueFilter(context.query);
  if (filter.kind === 'issue') return issueListPage(context, deps);
  return seeOther(issueListUrl(`${repositoryUrl(context.found.canonical)}/pulls`, { ...filter, kind: 'issue' }));
};

/** What the button of a bulk action means. Refuses `no_issue_chosen`, `no_action_chosen`. */
function readChange({ form }: RepositoryPersonContext): IssueChange {
  const label = form.text('label');
  const assignee = form.text('assignee').trim();
  const milestone = form.text('milestone');
  const needed = (value: string, what: string): string => {
    if (value === '') throw invalid('no_action_chosen', `Choose ${what} first.`);
    return value;
  };
  switch (form.text('action')) {
    case 'close':
      return { state: 'completed' };
    case 'not-planned':
      return { state: 'not_planned' };
    case 'reopen':
      return { state: 'open' };
    case 'label':
      return { labels: { add: [needed(label, 'a label')] } };
    case 'unlabel':
      return { labels: { remove: [needed(label, 'a label')] } };
    case 'assign':
      return { assignees: { add: [needed(assignee, 'a person')] } };
    case 'unassign':
      return { assignees: { remove: [needed(assignee, 'a person')] } };
    case 'milestone':
      return { milestone: needed(milestone, 'a milestone') === 'none' ? null : milestone.replace(/^=/, '') };
    default:
      throw invalid('no_action_chosen', 'Choose what to do with these issues.');
  }
}

/**
 * Fields `number` (several), `action` (close, not-planned, reopen, label, unlabel, assign, unassign, milestone) with
 * `label`, `assignee` or `milestone` (`=title`, or `none`), and `q`, the list to return to. Each issue is changed by a
 * write of its own; what was refused is named.
 */
export const changeIssues: Page<RepositoryPersonContext, IssuesDeps> = (context, deps) => {
  const { form, found, viewer } = context;
  const numbers = [...new Set(form.all('number').filter((value) => /^[1-9]\d{0,14}$/.test(value)))].map(Number);
  const query = new URLSearchParams(form.text('q') === '' ? {} : { q: form.text('q') });
  return submit(
    async () => {
      if (numbers.length === 0) throw invalid('no_issue_chosen', 'Tick the issues that are meant first.');
      const result = await deps.issues.changeMany(viewer, { ...found.canonical, numbers }, readChange(context));
      if (result.refused.length > 0)
        return {
          ...(await issueListPage(context, deps, {
            result,
            query,
            selected: result.refused.map(({ number }) => number),
          })),
          status: result.changed.length > 0 ? 200 : 422,
        };
      const { filter } = readIssueFilter(query);
      const back = issueListUrl(`${repositoryUrl(found.canonical)}/issues`, filter);
      return seeOther(`${back}${back.includes('?') ? '&' : '?'}done=issues-changed`);
    },
    (refusal) => issueListPage(context, deps, { refusal, query, selected: numbers }),
  );
};
