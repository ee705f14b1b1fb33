import type { Milestone } from '../../issues/index.ts';
import { noFilter } from '../../issues/index.ts';
import { repositoryUrl } from '../../http/index.ts';
import { listPage, pageLinks } from '../app/list-page.view.ts';
import { viewFlashMessage, withFlashMessage } from '../app/flash-messages.view.ts';
import { page, seeOther } from '../app/reply.ts';
import type { PageReply } from '../app/reply.ts';
import { viewRepositoryHeader } from '../app/repository-header.view.ts';
import type { Page, RepositoryContext, RepositoryPersonContext } from '../app/request-context.ts';
import { submitForm } from '../app/submit-form.ts';
import type { FormRefusal } from '../app/submit-form.ts';
import type { IssuesDeps } from './deps.ts';
import { issueListUrl } from './issue-filter.view.ts';
import { readPeople, viewIssueRow } from './issue-row.view.ts';
import { viewMilestone } from './milestone.view.ts';

const listUrl = ({ found }: RepositoryContext): string => `${repositoryUrl(found.canonical)}/milestones`;
const milestoneUrl = (context: RepositoryContext): string => `${listUrl(context)}/${context.params['milestone'] ?? ''}`;
const readForm = ({ form }: RepositoryContext) => ({
  title: form.text('title').trim(),
  description: form.text('description'),
  due_on: form.text('due_on').trim(),
});

async function milestonesPage(
  context: RepositoryContext,
  { issues, clock }: IssuesDeps,
  refusal: FormRefusal | null = null,
): Promise<PageReply> {
  const { viewer, found, query } = context;
  const [all, may] = await Promise.all([
    issues.listMilestones(viewer, found.canonical),
    issues.rightsIn(viewer, found.canonical),
  ]);
  const isClosed = query.get('state') === 'closed';
  const [open, closed] = [
    all.filter(({ closedAt }) => closedAt === null),
    all.filter(({ closedAt }) => closedAt !== null),
  ];
  return page('issues/milestones', {
    repository: viewRepositoryHeader(found),
    url: listUrl(context),
    isClosed,
    open: open.length,
    closed: closed.length,
    milestones: (isClosed ? closed : open).map((milestone) => viewMilestone(milestone, listUrl(context), clock.now())),
    mayEdit: may('triage') === null,
    form: readForm(context),
    refusal,
    notice: viewFlashMessage(query),
  });
}

/** `B/milestones`: open ones by due date; `?state=closed`. */
export const showMilestones: Page<RepositoryContext, IssuesDeps> = (context, deps) => milestonesPage(context, deps);

/** Fields `title`, `description`, `due_on` (`2026-12-31`). */
export const addMilestone: Page<RepositoryPersonContext, IssuesDeps> = (context, deps) =>
  submitForm(
    async () => {
      const { due_on: dueOn, ...rest } = readForm(context);
      const { id } = await deps.issues.addMilestone(context.viewer, context.found.canonical, { ...rest, dueOn });
      return seeOther(withFlashMessage(`${listUrl(context)}/${id}`, 'milestone-added'));
    },
    (refusal) => milestonesPage(context, deps, refusal),
  );

async function milestonePage(
  context: RepositoryContext,
  deps: IssuesDeps,
  refusal: FormRefusal | null = null,
): Promise<PageReply> {
  const { viewer, found, query, params } = context;
  const { issues, clock } = deps;
  const at = found.canonical;
  const milestone: Milestone = await issues.findMilestone(viewer, at, params['milestone'] ?? '');
  const state = query.get('state') === 'closed' ? 'closed' : 'open';
  const filter = { ...noFilter, milestone: milestone.title, state } as const;
  const [{ rows, next, previous }, may] = await Promise.all([
    listPage((paging) => issues.list(viewer, at, filter, paging), query),
    issues.rightsIn(viewer, at),
  ]);
  const url = repositoryUrl(at);
  const rowContext = { repositoryUrl: url, people: await readPeople(deps, rows), now: clock.now() };
  const labelUrl = (label: string): string => issueListUrl(`${url}/issues`, { ...noFilter, labels: [label] });
  return page('issues/milestone', {
    repository: viewRepositoryHeader(found),
    milestone: viewMilestone(milestone, listUrl(context), clock.now()),
    state,
    issues: rows.map((row) => viewIssueRow(row, { ...rowContext, labelUrl })),
    ...pageLinks(milestoneUrl(context), { next, previous }, { state: state === 'closed' ? 'closed' : '' }),
    inList: issueListUrl(`${url}/issues`, filter),
    mayEdit: may('triage') === null,
    mayOpen: may('contribute') === null,
    form:
      refusal === null
        ? { title: milestone.title, description: milestone.description, due_on: milestone.dueOn ?? '' }
        : readForm(context),
    refusal,
    notice: viewFlashMessage(query),
  });
}

/** `B/milestones/{id}`: its issues and its progress; `?state=closed`. */
export const showMilestone: Page<RepositoryContext, IssuesDeps> = (context, deps) => milestonePage(context, deps);

/** The same fields. */
export const editMilestone: Page<RepositoryPersonContext, IssuesDeps> = (context, deps) =>
  submitForm(
    async () => {
      const { due_on: dueOn, ...rest } = readForm(context);
      const { viewer, found, params } = context;
      await deps.issues.editMilestone(viewer, found.canonical, params['milestone'] ?? '', { ...rest, dueOn });
      return seeOther(withFlashMessage(milestoneUrl(context), 'milestone-saved'));
    },
    (refusal) => milestonePage(context, deps, refusal),
  );

const setClosed =
  (isClosed: boolean): Page<RepositoryPersonContext, IssuesDeps> =>
  async (context, { issues }) => {
    const { viewer, found, params } = context;
    await issues.setMilestoneClosed(viewer, found.canonical, params['milestone'] ?? '', isClosed);
    return seeOther(withFlashMessage(milestoneUrl(context), isClosed ? 'milestone-closed' : 'milestone-reopened'));
  };

export const closeMilestone = setClosed(true);
export const reopenMilestone = setClosed(false);

export const removeMilestone: Page<RepositoryPersonContext, IssuesDeps> = async (context, { issues }) => {
  const { viewer, found, params } = context;
  await issues.deleteMilestone(viewer, found.canonical, params['milestone'] ?? '');
  return seeOther(withFlashMessage(listUrl(context), 'milestone-removed'));
};
