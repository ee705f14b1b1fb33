import { personIdOf } from '../../access/index.ts';
import { readKeysetPage } from '../../db/index.ts';
import type { KeysetPage, KeysetPaging } from '../../db/index.ts';
import type { Viewer } from '../../access/index.ts';
import { invalid } from '../../kernel/index.ts';
import type { NotificationDeps } from '../deps.ts';
import type { NotificationRow, Reason } from '../schema/notification-schema.ts';
import { describeNotifications } from './describe-notifications.ts';
import type { Notification } from './describe-notifications.ts';
import { queryVisibleNotifications } from './visible-notifications.ts';

/** `inbox` is everything not done, `unread` its unread part, `all` the inbox and done rows. */
export type InboxView = 'inbox' | 'unread' | 'saved' | 'done' | 'feed';

/** Gitea's states of a notification, which are mutually exclusive. */
export type InboxState = 'unread' | 'read' | 'pinned';

interface InboxFilter {
  view: InboxView;
  /** Only inbox rows in one of these states. */
  states?: readonly InboxState[];
  /** UUID. */
  repositoryId?: string | null;
  reason?: Reason | null;
  /** Only events in this range, milliseconds since the epoch. */
  since?: number | null;
  before?: number | null;
}

const views: Record<InboxView, { condition: string; order: 'listed_at' | 'saved_at' | 'done_at' | 'fed_at' }> = {
  inbox: { condition: 'n.listed_at IS NOT NULL AND n.done_at IS NULL', order: 'listed_at' },
  unread: { condition: 'n.listed_at IS NOT NULL AND n.read_at IS NULL AND n.done_at IS NULL', order: 'listed_at' },
  saved: { condition: 'n.saved_at IS NOT NULL', order: 'saved_at' },
  done: { condition: 'n.done_at IS NOT NULL', order: 'done_at' },
  feed: { condition: 'n.fed_at IS NOT NULL', order: 'fed_at' },
};
const states: Record<InboxState, string> = {
  unread: '(n.read_at IS NULL AND n.saved_at IS NULL)',
  read: '(n.read_at IS NOT NULL AND n.saved_at IS NULL)',
  pinned: 'n.saved_at IS NOT NULL',
};
const properties = { listed_at: 'listedAt', saved_at: 'savedAt', done_at: 'doneAt', fed_at: 'fedAt' } as const;

/**
 * A page of the viewer's notifications, newest first; empty for anonymous clients and the command line. Throws
 * `invalid_page`.
 */
export async function listNotifications(
  deps: NotificationDeps,
  viewer: Viewer,
  { view, states: among = [], repositoryId = null, reason = null, since = null, before = null }: InboxFilter,
  paging: KeysetPaging,
): Promise<KeysetPage<Notification>> {
  const personId = personIdOf(viewer);
  const { condition, order } = views[view];
  const page = await readKeysetPage(
    paging,
    (row: NotificationRow) => `${row[properties[order]]}.${row.id}`,
    async ({ key, isBackwards, limit, skip }) => {
      if (personId === null) return [];
      const query = queryVisibleNotifications(deps, viewer, personId).andWhere(condition);
      if (among.length > 0) query.andWhere(`(${among.map((each) => states[each]).join(' OR ')})`);
      if (repositoryId !== null) query.andWhere('n.repository_id = :repositoryId', { repositoryId });
      if (reason !== null) query.andWhere('n.reason = :reason', { reason });
      if (since !== null) query.andWhere(`n.${order} >= :since`, { since });
      if (before !== null) query.andWhere(`n.${order} < :before`, { before });
      if (key !== null) query.andWhere(`(n.${order}, n.id) ${isBackwards ? '>' : '<'} (:at, :id)`, readKey(key));
      const direction = isBackwards ? 'ASC' : 'DESC';
      return query.orderBy(`n.${order}`, direction).addOrderBy('n.id', direction).limit(limit).offset(skip).getMany();
    },
  );
  return { ...page, rows: await describeNotifications(deps, page.rows) };
}

function readKey(key: string): { at: number; id: number } {
  const [, at, id] = /^(\d{1,15})\.(\d{1,15})$/.exec(key) ?? [];
  if (at === undefined || id === undefined) throw invalid('invalid_page', 'This page address is not valid.');
  return { at: Number(at), id: Number(id) };
}
