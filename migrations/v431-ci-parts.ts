import type { Migration } from '../src/db/index.ts';

/**
 * What runners send while a job runs, where several nodes serve a database and files are in a bucket: rows of logs that
 * are not complete. A call may arrive at any node.
 */
export const ciParts: Migration = {
  version: 431,
  name: 'CiParts',
  statements: [
    `CREATE TABLE ci_log_parts (
      task_id BIGINT NOT NULL REFERENCES ci_tasks (id) ON DELETE CASCADE,
      first_row BIGINT NOT NULL,
      row_count BIGINT NOT NULL,
      content TEXT NOT NULL,
      PRIMARY KEY (task_id, first_row)
    )`,
  ],
};
