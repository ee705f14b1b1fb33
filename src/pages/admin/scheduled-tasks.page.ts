import { page } from '../app/reply.ts';
import { viewTime } from '../app/times.view.ts';
import type { Page, PersonContext } from '../app/request-context.ts';
import type { AdminDeps } from './deps.ts';

/** The scheduled jobs with the results of their last runs. */
export const showScheduledTasks: Page<PersonContext, AdminDeps> = async (_context, { scheduledTasks, clock }) =>
  page('admin/scheduled-tasks', {
    tasks: (await scheduledTasks()).map(({ name, time, last }) => ({
      name,
      time,
      started: last && viewTime(last.lastStartedAt, clock.now()),
      took: last === null ? '' : `${(last.lastTookMs / 1000).toFixed(1)} s`,
      error: last?.lastError ?? null,
      failures: last?.failures ?? 0,
    })),
  });
