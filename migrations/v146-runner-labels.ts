import type { Migration } from '../src/db/index.ts';

/**
 * `labels` of a runner are those that count: the declared ones, or those that were chosen for it. `lost_runner` names
 * the runner that was lost while it had the job, which is then tried once more.
 */
export const runnerLabels: Migration = {
  version: 146,
  name: 'Chosen labels of runners, second tries of jobs',
  statements: [
    `ALTER TABLE ci_runners ADD COLUMN declared_labels TEXT NOT NULL DEFAULT '[]'`,
    `ALTER TABLE ci_runners ADD COLUMN has_chosen_labels INTEGER NOT NULL DEFAULT 0`,
    `UPDATE ci_runners SET declared_labels = labels`,
    `ALTER TABLE ci_jobs ADD COLUMN lost_runner TEXT`,
  ],
};
