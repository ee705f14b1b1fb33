import { personIdOf } from '../../access/index.ts';
import type { Viewer } from '../../access/index.ts';
import { createLru } from '../../kernel/index.ts';
import { listAccessNews } from './access-news.ts';
import type { NotificationDeps } from '../deps.ts';
import { limits } from '../limits.ts';
import { accessNewsSchema } from '../schema/access-news-schema.ts';
import { notificationCountsSchema } from '../schema/notification-schema.ts';
import { queryVisibleNotifications } from './visible-notifications.ts';

/** Viewers whose counts are cached; each is a few bytes. */
const maxCached = 10_000;

/**
 * Number of unread notifications of the viewer, at most `limits.counted`, for the header of every page. For users
 * without any it costs one cached row; for others it is counted once per state of the database, because it depends on
 * their read access.
 */
export function createUnreadCounter(deps: Pick<NotificationDeps, 'db' | 'accounts' | 'repositories'>) {
  const cached = createLru<string, { state: number; unread: number }>({ name: 'unread counts', maxWeight: maxCached });

  async function count(viewer: Viewer, personId: string): Promise<number> {
    const rows = queryVisibleNotifications(deps, viewer, personId)
      .select('n.id', 'id')
      .andWhere('n.listed_at IS NOT NULL AND n.read_at IS NULL AND n.done_at IS NULL')
      .limit(limits.counted);
    const [listed, news] = await Promise.all([rows.getRawMany(), listAccessNews(deps, viewer)]);
    return Math.min(limits.counted, listed.length + news.length);
  }

  return async (viewer: Viewer): Promise<number> => {
    const personId = personIdOf(viewer);
    if (personId === null || viewer.kind !== 'person') return 0;
    const [stored] = await deps.db.lookup(notificationCountsSchema, { userId: personId });
    const hasNews = (await deps.db.lookup(accessNewsSchema, { userId: personId, readAt: null })).length > 0;
    if (!hasNews && (stored === undefined || stored.unread === 0)) return 0;
    if (viewer.via !== 'session') return count(viewer, personId);
    const state = await deps.db.state();
    const known = cached.get(personId);
    if (known?.state === state) return known.unread;
    const unread = await count(viewer, personId);
    cached.set(personId, { state, unread });
    return unread;
  };
}
