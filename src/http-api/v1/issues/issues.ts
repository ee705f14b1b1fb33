import { z } from 'zod';
import { isDomainError, notFound } from '../../../kernel/index.ts';
import { findTemplate, noFilter, useTemplate } from '../../../issues/index.ts';
import type { IssueAt, IssueFilter, IssueUpdate } from '../../../issues/index.ts';
import type { Viewer } from '../../../access/index.ts';
import { HttpError } from '../../../http/index.ts';
import type { WebDeps } from '../../../web/index.ts';
import { numericId } from '../../../gitea-shapes/index.ts';
import type { Found } from '../../../repositories/index.ts';
import { created, json, listed, noContent } from '../../responses.ts';
import { operation } from '../../operation.ts';
import {
  issueAt,
  issuesAt,
  labelNames,
  milestoneTitle,
  oneIssueAt,
  payloadContextOf,
  readPage,
  repositoryAt,
  showIssue,
  showIssues,
  timeIn,
} from '../shapes/issues-parts.ts';
import { dayOf } from './milestones.ts';
import { issue, issueEdit, newIssue, numberedPaging } from '../shapes/issues-schemas.ts';

const common = { tag: 'Issues', cost: 'rows' } as const;
const write = { access: 'repository:read', scope: 'write' } as const;
/** A text of 64 KiB, plus JSON escapes. */
export const textBytes = 256 * 1024;

/** Parameters of lists of one repository and of searches over all repositories. */
export const issueQuery = {
  state: z.enum(['open', 'closed', 'all']).default('open'),
  labels: z.string().max(1_000).optional().describe('Comma-separated names; matches issues that have all of them'),
  q: z.string().max(1_000).optional().describe('Words'),
  type: z.enum(['issues', 'pulls', 'all']).optional().describe('Defaults to both'),
};
const changed = {
  since: z.string().max(40).optional().describe('Only those changed at or after this time'),
  before: z.string().max(40).optional().describe('Only those changed before this time'),
};

const namesIn = (text = ''): string[] =>
  text
    .split(',')
    .map((name) => name.trim())
    .filter((name) => name !== '')
    .slice(0, 20);

const kinds = { issues: 'issue', pulls: 'pull', all: 'any' } as const;

const filterOf = (
  query: { state: IssueFilter['state']; type?: keyof typeof kinds | undefined } & Partial<
    Record<'labels' | 'q', string | undefined>
  >,
) => ({
  ...noFilter,
  state: query.state,
  kind: kinds[query.type ?? 'all'],
  labels: namesIn(query.labels),
  words: (query.q ?? '')
    .split(/\s+/)
    .filter((word) => word !== '')
    .slice(0, 10),
});

/** Sorts after every issue with the same time. */
const lastNumber = '999999999999999';

export const listIssues = operation({
  ...common,
  id: 'listIssues',
  method: 'GET',
  path: issuesAt,
  summary: 'List a repository’s issues and pull requests',
  description:
    'Newest first; with since or before, ordered by last change. X-Total-Count is sent only without filters.',
  access: 'repository:read',
  status: 200,
  isPaged: true,
  query: z.object({
    ...issueQuery,
    ...changed,
    milestones: z.string().max(200).optional().describe('Milestone title or ID'),
    created_by: z.string().max(100).optional(),
    assigned_by: z.string().max(100).optional().describe('Username of the assignee'),
    mentioned_by: z.string().max(100).optional(),
    sort: z.enum(['newest', 'oldest', 'updated', 'least-updated', 'comments', 'least-comments']).optional(),
    ...numberedPaging,
  }),
  response: z.array(issue),
  async run({ viewer, found, query, deps, origin }) {
    const at = repositoryAt(found);
    const since = timeIn(query.since, 'since');
    const before = timeIn(query.before, 'before');
    const byTime = since !== undefined || before !== undefined;
    const filter: IssueFilter = {
      ...filterOf(query),
      author: query.created_by || null,
      assignee: query.assigned_by || null,
      mentions: query.mentioned_by || null,
      milestone: query.milestones ? await titleOf(deps, viewer, found, query.milestones) : null,
      sort: byTime ? 'updated' : (query.sort ?? 'newest'),
    };
    const { rows, next } = await readPage(query, async ({ after, limit, skip }) => {
      const from = after ?? (before === undefined ? null : `${before - 1}.${lastNumber}`);
      const page = await deps.issues.list(viewer, at, filter, { limit, after: from, skip });
      const fitting = page.rows.filter(({ updatedAt }) => updatedAt >= (since ?? 0));
      return { rows: fitting, next: fitting.length < page.rows.length ? null : page.next };
    });
    const isWhole = !byTime && JSON.stringify({ ...filter, kind: 'issue', sort: '', state: '' }) === unfiltered;
    const total = isWhole ? await countOf(deps, found, filter) : null;
    return listed(await showIssues(deps, rows, payloadContextOf({ found, origin })), next, total);
  },
});

const unfiltered = JSON.stringify({ ...noFilter, sort: '', state: '' });

async function countOf({ issues }: WebDeps, { repository }: Found, { state, kind }: IssueFilter): Promise<number> {
  const { openIssues, closedIssues, openPulls, closedPulls } = await issues.count(repository.id);
  const open = (kind === 'pull' ? 0 : openIssues) + (kind === 'issue' ? 0 : openPulls);
  const closed = (kind === 'pull' ? 0 : closedIssues) + (kind === 'issue' ? 0 : closedPulls);
  return (state === 'closed' ? 0 : open) + (state === 'open' ? 0 : closed);
}

/** A milestone may also be given by its id. */
async function titleOf({ issues }: WebDeps, viewer: Viewer, found: Found, text: string): Promise<string> {
  const rows = await issues.listMilestones(viewer, repositoryAt(found));
  return rows.find(({ id }) => String(numericId(id)) === text)?.title ?? text;
}

export const searchIssues = operation({
  ...common,
  id: 'searchIssues',
  method: 'GET',
  path: '/repos/issues/search',
  summary: 'Search the issues and pull requests of all repositories visible to the caller',
  description: 'Searches titles, texts and comments and applies filters; newest first.',
  access: 'anyone',
  cost: 'search',
  status: 200,
  isPaged: true,
  query: z.object({
    ...issueQuery,
    owner: z.string().max(100).optional().describe('Only results in this owner’s repositories'),
    created_by: z.string().max(100).optional(),
    assigned_by: z.string().max(100).optional().describe('Username of the assignee'),
    mentioned_by: z.string().max(100).optional(),
    ...numberedPaging,
  }),
  response: z.array(issue),
  async run({ viewer, query, deps, origin }) {
    const filter: IssueFilter = {
      ...filterOf(query),
      owner: query.owner || null,
      author: query.created_by || null,
      assignee: query.assigned_by || null,
      mentions: query.mentioned_by || null,
    };
    const { rows, next } = await readPage(query, (paging) => deps.issues.search(viewer, { filter }, paging));
    const shown = await showIssues(deps, rows, (at) => {
      const { repository, owner } = rows[at]!.located;
      return { origin, owner: owner.handle, repository };
    });
    return listed(shown, next);
  },
});

export const openIssue = operation({
  ...common,
  ...write,
  id: 'openIssue',
  method: 'POST',
  path: issuesAt,
  summary: 'Open an issue',
  description: 'Labels, assignees, milestone, due date and ref require write access.',
  status: 201,
  maxJsonBytes: textBytes,
  body: newIssue,
  response: issue,
  async run({ viewer, found, body, deps, origin }) {
    const at = repositoryAt(found);
    const given = { body: body.body ?? '', answers: body.answers ?? undefined };
    const { number } = await deps.issues.open(viewer, at, {
      title: body.title,
      ...(body.template == null ? given : useTemplate(await findTemplate(deps, found, body.template), given)),
      labels: await labelNames(deps, viewer, at, body.labels ?? []),
      assignees: assigneesIn(body) ?? [],
      milestone: await milestoneTitle(deps, viewer, at, body.milestone ?? 0),
      dueOn: dayOf(body.due_date ?? ''),
      ref: body.ref ?? '',
      mayRepeat: true,
    });
    if (body.closed) await deps.issues.close(viewer, { ...at, number });
    const opened = await showIssue(deps, viewer, { ...at, number }, payloadContextOf({ found, origin }));
    return created(opened, `/repos/${at.owner}/${at.name}/issues/${number}`);
  },
});

/** Both parameters by which clients name them; undefined without either. tea sends nobody as one empty name. */
export function assigneesIn({
  assignee,
  assignees,
}: {
  assignee?: string | null | undefined;
  assignees?: string[] | null | undefined;
}) {
  if (assignees == null && !assignee) return undefined;
  return [...new Set([...(assignee ? [assignee] : []), ...(assignees ?? []).filter((name) => name !== '')])];
}

export const getIssue = operation({
  ...common,
  id: 'getIssue',
  method: 'GET',
  path: oneIssueAt,
  summary: 'Get an issue',
  description: 'For an issue that has moved, returns the issue from its new repository.',
  access: 'repository:read',
  status: 200,
  response: issue,
  async run({ viewer, found, params, deps, origin }) {
    const at = issueAt(found, params.number);
    try {
      return json(await showIssue(deps, viewer, at, payloadContextOf({ found, origin })));
    } catch (error) {
      if (!isDomainError(error) || error.reason !== 'issue_not_found') throw error;
      return json(await readMoved(deps, viewer, at, origin));
    }
  },
});

async function readMoved(deps: WebDeps, viewer: Viewer, at: IssueAt, origin: string) {
  const moved = await deps.issues.findMoved(viewer, at);
  const place =
    moved === null ? undefined : (await deps.repositories.locate([moved.repositoryId])).get(moved.repositoryId);
  if (moved === null || place === undefined) throw notFound('issue_not_found', 'Issue not found');
  const { repository, owner } = place;
  return (await showIssues(deps, [moved], { origin, owner: owner.handle, repository }))[0]!;
}

export const editIssue = operation({
  ...common,
  ...write,
  id: 'editIssue',
  method: 'PATCH',
  path: oneIssueAt,
  summary: 'Edit an issue: title, text, state, labels, assignees, milestone, due date, ref',
  description: 'Applies all changes or none. Omitted fields remain unchanged.',
  // Gitea's status for an edit.
  status: 201,
  takesIfMatch: true,
  maxJsonBytes: textBytes,
  body: issueEdit,
  response: issue,
  async run({ viewer, found, params, body, deps, origin, ifMatch }) {
    const at = issueAt(found, params.number);
    const update: IssueUpdate = {};
    if (body.title) update.title = body.title;
    if (body.body != null) update.body = body.body;
    if (body.labels != null) update.labels = await labelNames(deps, viewer, repositoryAt(found), body.labels);
    const assignees = assigneesIn(body);
    if (assignees !== undefined) update.assignees = assignees;
    if (body.milestone != null)
      update.milestone = await milestoneTitle(deps, viewer, repositoryAt(found), body.milestone);
    if (body.due_date != null || body.unset_due_date) update.dueOn = dueDayOf(body);
    if (body.ref != null) update.ref = body.ref;
    if (body.state != null) update.state = body.state === 'open' ? 'open' : (body.close_reason ?? 'completed');
    await ifMatching(ifMatch, body.revision, (revision) =>
      deps.issues.update(viewer, at, { ...update, ...(revision !== undefined && { revision }) }),
    );
    return json(await showIssue(deps, viewer, at, payloadContextOf({ found, origin })));
  },
});

/** Null removes the date. */
export const dueDayOf = (body: {
  due_date?: string | null | undefined;
  unset_due_date?: boolean | null | undefined;
}) => (body.unset_due_date || !body.due_date ? null : dayOf(body.due_date));

/**
 * Runs an edit of a revision: another revision is 412 for If-Match, 409 for the field.
 * @param work gets undefined if neither is given
 */
export async function ifMatching<T>(
  ifMatch: string | null,
  revision: number | null | undefined,
  work: (revision: number | undefined) => Promise<T>,
): Promise<T> {
  if (ifMatch === null) return work(revision ?? undefined);
  const mismatch = () => new HttpError(412, 'The text has a newer revision.');
  if (!/^\d{1,9}$/.test(ifMatch)) throw mismatch();
  try {
    return await work(Number(ifMatch));
  } catch (error) {
    if (isDomainError(error) && error.reason === 'text_changed_meanwhile') throw mismatch();
    throw error;
  }
}

export const setDeadline = operation({
  ...common,
  ...write,
  id: 'setIssueDeadline',
  method: 'POST',
  path: `${oneIssueAt}/deadline`,
  summary: 'Set or remove an issue’s due date',
  status: 201,
  body: z.object({ due_date: z.string().max(40).nullable().describe('Date, or a time on that date; null for none') }),
  response: z.strictObject({ due_date: issue.shape.due_date }).meta({ id: 'IssueDeadline' }),
  async run({ viewer, found, params, body, deps, origin }) {
    const at = issueAt(found, params.number);
    await deps.issues.update(viewer, at, { dueOn: dueDayOf(body) });
    const { due_date } = await showIssue(deps, viewer, at, payloadContextOf({ found, origin }));
    return json({ due_date });
  },
});

export const deleteIssue = operation({
  ...common,
  ...write,
  id: 'deleteIssue',
  method: 'DELETE',
  path: oneIssueAt,
  summary: 'Move an issue to the trash',
  description: 'Requires administrator access to the repository. The issue can be restored for thirty days.',
  status: 204,
  async run({ viewer, found, params, deps }) {
    await deps.issues.trash(viewer, issueAt(found, params.number));
    return noContent();
  },
});

export const moveIssue = operation({
  ...common,
  ...write,
  id: 'moveIssue',
  method: 'POST',
  path: `${oneIssueAt}/move`,
  summary: 'Move an issue to another repository',
  description:
    'Requires administrator access to both repositories. Issues cannot move from a private to a public repository.',
  status: 200,
  body: z.object({ owner: z.string(), repo: z.string() }),
  response: issue,
  async run({ viewer, found, params, body, deps, origin }) {
    const to = { owner: body.owner, name: body.repo };
    const moved = await deps.issues.move(viewer, issueAt(found, params.number), to);
    const target = await deps.repositories.find(viewer, to.owner, to.name);
    return json((await showIssues(deps, [moved], payloadContextOf({ found: target, origin })))[0]!);
  },
});

export const listPinnedIssues = operation({
  ...common,
  id: 'listPinnedIssues',
  method: 'GET',
  path: `${issuesAt}/pinned`,
  summary: 'List a repository’s pinned issues',
  access: 'repository:read',
  status: 200,
  response: z.array(issue),
  run: async ({ viewer, found, deps, origin }) =>
    json(
      await showIssues(
        deps,
        await deps.issues.listPinned(viewer, repositoryAt(found)),
        payloadContextOf({ found, origin }),
      ),
    ),
});
