import { z } from 'zod';
import { notFound } from '../../../kernel/index.ts';
import { noFilter } from '../../../issues/index.ts';
import type { IssueFilter, IssueSort, IssueUpdate } from '../../../issues/index.ts';
import { created, json, listed } from '../../responses.ts';
import { operation } from '../../operation.ts';
import { labelNames, milestoneTitle, readPage, repositoryAt } from '../shapes/issues-parts.ts';
import { dayOf } from '../issues/milestones.ts';
import { numberedPaging } from '../shapes/issues-schemas.ts';
import { resolveRef } from '../code/trees-and-archives.ts';
import { assigneesIn, dueDayOf, ifMatching, issueQuery, textBytes } from '../issues/issues.ts';
import { onePullAt, pullAt, pullsAt, showPull, showPulls } from './parts.ts';
import { newPull, pullEdit, pullRequest } from '../shapes/pulls-schemas.ts';

const common = { tag: 'Pull requests', cost: 'rows' } as const;
const write = { access: 'repository:read', scope: 'write' } as const;

/** Gitea's names of sort orders; our own are those of issues. */
const sorts: Readonly<Record<string, IssueSort>> = {
  recentupdate: 'updated',
  recentclose: 'updated',
  leastupdate: 'least-updated',
  mostcomment: 'comments',
  leastcomment: 'least-comments',
  priority: 'newest',
};
const orders = ['newest', 'oldest', 'updated', 'least-updated', 'comments', 'least-comments'] as const;
const giteaOrders = ['recentupdate', 'recentclose', 'leastupdate', 'mostcomment', 'leastcomment', 'priority'] as const;

export const listPulls = operation({
  ...common,
  id: 'listPulls',
  method: 'GET',
  path: pullsAt,
  summary: 'List a repository’s pull requests',
  description: 'Newest first. X-Total-Count is sent only without filters.',
  access: 'repository:read',
  status: 200,
  isPaged: true,
  query: z.object({
    state: issueQuery.state,
    labels: z
      .array(z.string().max(1_000))
      .max(20)
      .optional()
      .describe('Names or IDs, repeated or comma-separated; matches pull requests that have all of them'),
    q: issueQuery.q,
    milestone: z.int().optional().describe('Milestone ID'),
    poster: z.string().max(100).optional().describe('Username of the author'),
    base_branch: z.string().max(255).optional().describe('Base branch'),
    head: z.string().max(500).optional().describe('branch, owner:branch or owner/name:branch'),
    sort: z.enum([...orders, ...giteaOrders]).optional(),
    ...numberedPaging,
  }),
  response: z.array(pullRequest),
  async run(call) {
    const { viewer, found, query, deps } = call;
    const at = repositoryAt(found);
    const names = (query.labels ?? []).flatMap((part) => part.split(',')).map((name) => name.trim());
    const filter: IssueFilter = {
      ...noFilter,
      kind: 'pull',
      state: query.state,
      labels: await labelNames(
        deps,
        viewer,
        at,
        names.filter((name) => name !== '').map((name) => (/^\d{1,16}$/.test(name) ? Number(name) : name)),
      ),
      milestone: query.milestone ? await milestoneTitle(deps, viewer, at, query.milestone) : null,
      author: query.poster || null,
      base: query.base_branch || null,
      head: query.head || null,
      words: (query.q ?? '').split(/\s+/).filter((word) => word !== ''),
      sort: sorts[query.sort ?? ''] ?? (query.sort as IssueSort | undefined) ?? 'newest',
    };
    const { rows, next } = await readPage(query, (paging) => deps.issues.list(viewer, at, filter, paging));
    const isWhole = JSON.stringify({ ...filter, sort: '', state: '' }) === unfiltered;
    const { openPulls, closedPulls } = await deps.issues.count(found.repository.id);
    const totals = { open: openPulls, closed: closedPulls, all: openPulls + closedPulls };
    return listed(
      await showPulls(rows, call),
      next,
      isWhole && filter.state !== 'merged' ? totals[filter.state] : null,
    );
  },
});

const unfiltered = JSON.stringify({ ...noFilter, kind: 'pull', sort: '', state: '' });

export const openPull = operation({
  ...common,
  ...write,
  id: 'openPull',
  method: 'POST',
  path: pullsAt,
  summary: 'Open a pull request',
  description:
    'The head is a branch of the repository or of a fork that the caller can push to. Labels, assignees and milestone require write access.',
  cost: 'objects',
  status: 201,
  refuses: [409],
  maxJsonBytes: textBytes,
  body: newPull,
  response: pullRequest,
  async run(call) {
    const { viewer, found, body, deps } = call;
    const at = repositoryAt(found);
    const { issue } = await deps.pulls.open(viewer, at, {
      title: body.title,
      body: body.body ?? '',
      head: body.head,
      base: body.base ?? undefined,
      labels: await labelNames(deps, viewer, at, body.labels ?? []),
      assignees: assigneesIn(body) ?? [],
      milestone: await milestoneTitle(deps, viewer, at, body.milestone ?? 0),
      dueOn: dayOf(body.due_date ?? ''),
      isDraft: body.draft ?? false,
      maintainersMayPush: body.allow_maintainer_edit ?? false,
      publishes: body.publish_private ?? false,
    });
    const { number } = issue;
    // Clients read from this response whether it can be merged.
    await deps.pulls.mergeStateOf(viewer, { ...at, number });
    return created(await showPull(call, { ...at, number }), `/repos/${at.owner}/${at.name}/pulls/${number}`);
  },
});

export const getPull = operation({
  ...common,
  id: 'getPull',
  method: 'GET',
  path: onePullAt,
  summary: 'Get a pull request',
  description: 'Computes whether it can be merged if this is not known yet.',
  access: 'repository:read',
  cost: 'objects',
  status: 200,
  response: pullRequest,
  async run(call) {
    const at = pullAt(call.found, call.params.number);
    await call.deps.pulls.mergeStateOf(call.viewer, at);
    return json(await showPull(call, at));
  },
});

export const getPullByBranches = operation({
  ...common,
  id: 'getPullByBranches',
  method: 'GET',
  path: `${pullsAt}/{base}/{head}`,
  summary: 'Get the open pull request from one branch into another',
  description: 'head is a branch, owner:branch or owner/name:branch.',
  access: 'repository:read',
  status: 200,
  response: pullRequest,
  async run(call) {
    const { viewer, found, params, deps } = call;
    const at = repositoryAt(found);
    const number = await deps.pulls.findByBranches(viewer, at, params);
    if (number === null) throw notFound('pull_not_found', 'Pull request not found');
    return json(await showPull(call, { ...at, number }));
  },
});

export const getPullOfCommit = operation({
  ...common,
  id: 'getPullOfCommit',
  method: 'GET',
  path: '/repos/{owner}/{name}/commits/{commit}/pull',
  summary: 'Get a commit’s pull request',
  description: 'Returns the pull request merged as this commit, otherwise the newest one that contains it.',
  access: 'repository:read',
  cost: 'objects',
  status: 200,
  response: pullRequest,
  async run(call) {
    const { viewer, found, params, deps } = call;
    const at = repositoryAt(found);
    const number = await deps.pulls.ofCommit(viewer, at, await resolveRef(deps, found, params.commit));
    if (number === null) throw notFound('pull_not_found', 'Pull request not found');
    return json(await showPull(call, { ...at, number }));
  },
});

export const editPull = operation({
  ...common,
  ...write,
  id: 'editPull',
  method: 'PATCH',
  path: onePullAt,
  summary: 'Edit a pull request: title, text, state, base branch, draft, labels, assignees, milestone',
  description: 'Omitted fields remain unchanged. The base branch, draft and allow_maintainer_edit are changed last.',
  // Gitea's status for an edit.
  status: 201,
  takesIfMatch: true,
  maxJsonBytes: textBytes,
  body: pullEdit,
  response: pullRequest,
  async run(call) {
    const { viewer, found, params, body, deps, ifMatch } = call;
    const at = pullAt(found, params.number);
    await deps.pulls.find(viewer, at);
    const update: IssueUpdate = {};
    if (body.title) update.title = body.title;
    if (body.body != null) update.body = body.body;
    if (body.labels != null) update.labels = await labelNames(deps, viewer, repositoryAt(found), body.labels);
    const assignees = assigneesIn(body);
    if (assignees !== undefined) update.assignees = assignees;
    if (body.milestone != null)
      update.milestone = await milestoneTitle(deps, viewer, repositoryAt(found), body.milestone);
    if (body.due_date != null || body.unset_due_date) update.dueOn = dueDayOf(body);
    if (body.state != null) update.state = body.state === 'open' ? 'open' : 'completed';
    // Draft and branch do not belong to the issue: an edit of only these needs no right on it.
    const isOfIssue = Object.keys(update).length > 0 || ifMatch !== null || body.revision != null;
    if (isOfIssue)
      await ifMatching(ifMatch, body.revision, (revision) =>
        deps.issues.update(viewer, at, { ...update, ...(revision !== undefined && { revision }) }),
      );
    const { base, draft, allow_maintainer_edit: maintainersMayPush } = body;
    if (base || draft != null || maintainersMayPush != null)
      await deps.pulls.edit(viewer, at, {
        base: base || undefined,
        isDraft: draft ?? undefined,
        maintainersMayPush: maintainersMayPush ?? undefined,
      });
    return json(await showPull(call, at));
  },
});
