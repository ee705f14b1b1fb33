import {
  compareNotificationCounts,
  compareWatchCounts,
  notificationLimits,
  recountNotifications,
  recountWatchers,
} from '../../notifications/index.ts';
import { problem, warning } from '../check-result.ts';
import type { CheckResult } from '../check-result.ts';
import { counted, hourMs, rowsOf } from '../deps.ts';
import type { CheckContext, CheckGroup } from '../deps.ts';

/** Counts of unread notifications and of watchers, and parts of events that were not announced. */
export const checkNotifications: CheckGroup = async (deps) => ({
  area: 'notifications',
  findings: [...(await checkCounts(deps)), ...(await checkBatches(deps))],
  summary: 'counts and queue checked',
});

async function checkCounts(deps: CheckContext): Promise<CheckResult[]> {
  const people = (await rowsOf(deps, compareNotificationCounts)).map(({ id }) => String(id));
  const repositories = (await rowsOf(deps, compareWatchCounts)).map(({ id }) => String(id));
  if (people.length + repositories.length === 0) return [];
  const words = `${counted(people.length, 'user', 'users')} and ${counted(repositories.length, 'repository', 'repositories')}`;
  return [
    warning('notifications.counts', `The notification or watcher counts of ${words} are wrong.`, {
      remedy: 'hearth doctor --fix counts anew',
      fix: async () => {
        for (const id of people) await deps.db.write((tx) => recountNotifications(tx, id));
        for (const id of repositories) await deps.db.write((tx) => recountWatchers(tx, id));
        return `recalculated the notification and watcher counts of ${words}`;
      },
    }),
  ];
}

async function checkBatches(deps: CheckContext): Promise<CheckResult[]> {
  const [row] = await rowsOf(
    deps,
    `SELECT COALESCE(sum(CASE WHEN attempts >= ? THEN 1 ELSE 0 END), 0) AS failed,
       COALESCE(sum(CASE WHEN attempts < ? AND created_at < ? THEN 1 ELSE 0 END), 0) AS waiting, max(last_error) AS error
     FROM notification_batches`,
    [notificationLimits.batchAttempts, notificationLimits.batchAttempts, deps.now - hourMs],
  );
  const [failed, waiting] = [Number(row?.['failed'] ?? 0), Number(row?.['waiting'] ?? 0)];
  return [
    ...(failed === 0
      ? []
      : [
          problem(
            'notifications.failed',
            `${counted(failed, 'event was', 'events were')} not announced to all recipients: ${String(row?.['error'])}.`,
            { remedy: 'see notifications.batch_failed in the server log' },
          ),
        ]),
    ...(waiting === 0
      ? []
      : [
          warning('notifications.waiting', `${counted(waiting, 'event is', 'events are')} waiting to be sent.`, {
            remedy: 'is the server running? hearth cron run notifications.tell',
          }),
        ]),
  ];
}
