import { z } from 'zod';
import { notFound } from '../../../kernel/index.ts';
import { releaseNumberOf, releasePath } from '../../../releases/index.ts';
import { reasons } from '../../../notifications/index.ts';
import { issuePath } from '../../../gitea-shapes/index.ts';
import type { Change, InboxState, InboxView, Notification } from '../../../notifications/index.ts';
import type { Viewer } from '../../../access/index.ts';
import { repositoryUrl } from '../../../http/index.ts';
import type { WebDeps } from '../../../web/index.ts';
import { json, listed } from '../../responses.ts';
import { operation } from '../../operation.ts';
import { readPage, timeIn } from '../shapes/issues-parts.ts';
import { numberedPaging } from '../shapes/issues-schemas.ts';
import { repository } from '../shapes/schemas.ts';
import { showListed } from '../shapes/show-repositories.ts';

const common = { tag: 'Notifications', cost: 'rows' } as const;

const thread = z
  .strictObject({
    id: z.int(),
    unread: z.boolean(),
    pinned: z.boolean().describe('Saved'),
    done: z.boolean(),
    reason: z.string(),
    updated_at: z.string(),
    url: z.string(),
    repository,
    subject: z.strictObject({
      title: z.string(),
      type: z.enum(['Issue', 'Pull', 'Run', 'Release']),
      state: z
        .string()
        .describe(
          'open, closed or merged; for a run, failure, or success once a later run has succeeded; for a run that waits for environment reviewers, waiting, or success once no review is needed; for a release, published',
        ),
      url: z.string(),
      html_url: z.string(),
      latest_comment_url: z.string(),
      latest_comment_html_url: z.string(),
      changes_html_url: z
        .string()
        .nullable()
        .describe('URL of the changes since the caller’s review; null if there are none'),
    }),
    first_position: z.int().describe('First unread entry of the issue'),
    last_position: z.int(),
  })
  .meta({ id: 'NotificationThread' });

interface Place {
  deps: WebDeps;
  origin: string;
}

/** The same for several, which reads their repositories at once. */
async function showThreads(rows: readonly Notification[], viewer: Viewer, place: Place) {
  const repositories = rows.map((row) => ({ ...row.place.repository, owner: row.place.owner }));
  const shown = await showListed(repositories, viewer, place);
  return rows.map((row, at) => describeThread(row, shown[at]!, place));
}

const showThread = async (row: Notification, viewer: Viewer, place: Place) =>
  (await showThreads([row], viewer, place))[0]!;

function describeThread(
  row: Notification,
  repositoryShown: z.output<typeof repository>,
  { origin }: Place,
): z.output<typeof thread> {
  const { id, isUnread, savedAt, doneAt, listedAt, resolvedAt, reason, place, issue, run, release, deployment } = row;
  const at = { owner: place.owner.handle, name: place.repository.name };
  const page = `${origin}${repositoryUrl(at)}`;
  const api = `${origin}/api/v1/repos/${at.owner}/${at.name}`;
  const subject =
    release !== null
      ? {
          title: release.title || release.tag,
          type: 'Release' as const,
          state: 'published',
          url: `${api}/releases/${releaseNumberOf(release.id)}`,
          html_url: `${origin}${releasePath(at, release.tag)}`,
          latest_comment_url: '',
          latest_comment_html_url: '',
          changes_html_url: null,
        }
      : issue === null
        ? {
            title: `${run!.workflow}: ${run!.title}`,
            type: 'Run' as const,
            state: deployment !== null && resolvedAt === null ? 'waiting' : resolvedAt === null ? 'failure' : 'success',
            url: `${api}/runs/${run!.number}`,
            html_url: `${page}/runs/${run!.number}`,
            latest_comment_url: '',
            latest_comment_html_url: '',
            changes_html_url: null,
          }
        : {
            title: issue.title,
            type: issue.kind === 'PULL' ? ('Pull' as const) : ('Issue' as const),
            state: issue.state.toLowerCase(),
            url: `${api}/${issuePath(issue)}`,
            html_url: `${page}/${issuePath(issue)}`,
            latest_comment_url: `${api}/issues/${issue.number}`,
            latest_comment_html_url: `${page}/${issuePath(issue)}#e${row.lastPosition}`,
            changes_html_url:
              row.reviewedRound === null ? null : `${page}/${issuePath(issue)}/changes?from=${row.reviewedRound}`,
          };
  return {
    id,
    unread: isUnread,
    pinned: savedAt !== null,
    done: doneAt !== null,
    reason,
    updated_at: new Date(listedAt ?? 0).toISOString(),
    url: `${origin}/api/v1/notifications/threads/${id}`,
    repository: repositoryShown,
    subject,
    first_position: row.firstPosition,
    last_position: row.lastPosition,
  };
}

/** Gitea's and our names for parts of an inbox. */
const query = z.object({
  all: z.enum(['true', 'false']).optional().describe('Whether to include read notifications'),
  'status-types': z
    .array(z.enum(['unread', 'read', 'pinned']))
    .max(3)
    .optional()
    .describe('Repeat for several values'),
  view: z.enum(['inbox', 'unread', 'saved', 'done']).optional().describe('Alternative to all and status-types'),
  reason: z.enum(reasons).optional(),
  since: z.string().max(40).optional().describe('Only those changed at or after this time'),
  before: z.string().max(40).optional().describe('Only those changed before this time'),
  ...numberedPaging,
});

function viewOf({ view, all, 'status-types': states = [] }: z.output<typeof query>): {
  view: Exclude<InboxView, 'feed'>;
  states?: InboxState[];
} {
  if (view !== undefined) return { view };
  if (states.length === 1 && states[0] === 'pinned') return { view: 'saved' };
  if (states.length > 0) return { view: 'inbox', states };
  return { view: all === 'true' ? 'inbox' : 'unread' };
}

async function listThreads(
  place: Place,
  viewer: Viewer,
  asked: z.output<typeof query>,
  repositoryId: string | null = null,
) {
  const filter = {
    ...viewOf(asked),
    repositoryId,
    reason: asked.reason ?? null,
    since: timeIn(asked.since, 'since') ?? null,
    before: timeIn(asked.before, 'before') ?? null,
  };
  const { rows, next } = await readPage(asked, (paging) => place.deps.notifications.list(viewer, filter, paging));
  return listed(await showThreads(rows, viewer, place), next);
}

const toStatus = z
  .enum(['read', 'unread', 'pinned', 'done', 'undone', 'unpinned'])
  .default('read')
  .describe('done removes it from the inbox, pinned saves it; Gitea does not have the last three');
const changeOf: Readonly<Record<z.output<typeof toStatus>, Change>> = {
  read: 'read',
  unread: 'unread',
  pinned: 'save',
  done: 'done',
  undone: 'undone',
  unpinned: 'unsave',
};
const markQuery = z.object({
  last_read_at: z.string().max(40).optional().describe('Only notifications created by this time; defaults to now'),
  'to-status': toStatus,
});

async function markAll(
  place: Place,
  viewer: Viewer,
  asked: z.output<typeof markQuery>,
  repositoryId: string | null = null,
) {
  const { notifications, clock } = place.deps;
  const upTo = timeIn(asked.last_read_at, 'last_read_at') ?? clock.now();
  const { rows } = await notifications.list(viewer, { view: 'unread', repositoryId, before: upTo + 1 }, { limit: 100 });
  await notifications.change(viewer, changeOf[asked['to-status']], { upTo, repositoryId });
  const shown = await showThreads(rows, viewer, place);
  return json(shown.map((row) => ({ ...row, unread: asked['to-status'] === 'unread' })));
}

const threadId = (text: string): number => {
  if (!/^\d{1,15}$/.test(text)) throw notFound('notification_not_found', 'There is no such notification.');
  return Number(text);
};

export const notificationOperations = [
  operation({
    ...common,
    id: 'listNotifications',
    method: 'GET',
    path: '/notifications',
    summary: 'List the caller’s notifications',
    description:
      'Newest first, with one per issue or repository with failed runs. By default, only unread notifications.',
    access: 'token:read',
    status: 200,
    isPaged: true,
    query,
    response: z.array(thread),
    run: ({ viewer, query: asked, ...place }) => listThreads(place, viewer, asked),
  }),
  operation({
    ...common,
    id: 'markNotifications',
    method: 'PUT',
    path: '/notifications',
    summary: 'Mark the caller’s notifications as read',
    description: 'Marks the whole inbox. Returns the previously unread notifications, at most 100.',
    access: 'token:write',
    status: 200,
    query: markQuery,
    response: z.array(thread),
    run: ({ viewer, query: asked, ...place }) => markAll(place, viewer, asked),
  }),
  operation({
    ...common,
    id: 'countNotifications',
    method: 'GET',
    path: '/notifications/new',
    summary: 'Get the number of unread notifications',
    description: 'Counts up to 100.',
    access: 'token:read',
    status: 200,
    response: z.strictObject({ new: z.int() }).meta({ id: 'NotificationCount' }),
    run: async ({ viewer, deps }) => json({ new: await deps.notifications.countUnread(viewer) }),
  }),
  operation({
    ...common,
    id: 'getNotification',
    method: 'GET',
    path: '/notifications/threads/{id}',
    summary: 'Get a notification',
    access: 'token:read',
    status: 200,
    refuses: [404],
    response: thread,
    run: async ({ viewer, params, ...place }) =>
      json(await showThread(await place.deps.notifications.find(viewer, threadId(params.id)), viewer, place)),
  }),
  operation({
    ...common,
    id: 'markNotification',
    method: 'PATCH',
    path: '/notifications/threads/{id}',
    summary: 'Mark a notification as read, unread, saved or done',
    access: 'token:write',
    status: 200,
    refuses: [404],
    query: z.object({ 'to-status': toStatus }),
    response: thread,
    async run({ viewer, params, query: asked, ...place }) {
      const { notifications } = place.deps;
      const { id } = await notifications.find(viewer, threadId(params.id));
      await notifications.change(viewer, changeOf[asked['to-status']], { ids: [id] });
      return json(await showThread(await notifications.find(viewer, id), viewer, place));
    },
  }),
  operation({
    ...common,
    id: 'listRepositoryNotifications',
    method: 'GET',
    path: '/repos/{owner}/{name}/notifications',
    summary: 'List the caller’s notifications for a repository',
    access: 'repository:read',
    scope: 'read',
    status: 200,
    isPaged: true,
    query,
    response: z.array(thread),
    run: ({ viewer, found, query: asked, ...place }) => listThreads(place, viewer, asked, found.repository.id),
  }),
  operation({
    ...common,
    id: 'markRepositoryNotifications',
    method: 'PUT',
    path: '/repos/{owner}/{name}/notifications',
    summary: 'Mark the caller’s notifications for a repository as read',
    access: 'repository:read',
    scope: 'write',
    status: 200,
    query: markQuery,
    response: z.array(thread),
    run: ({ viewer, found, query: asked, ...place }) => markAll(place, viewer, asked, found.repository.id),
  }),
];
