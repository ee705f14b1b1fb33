import type { Migration } from '../src/db/index.ts';

const columns = 'repository_id, workflow_path, cron, sha, actor_id, next_at';

/**
 * A schedule has a time zone, which is a part of its key: a file may name one expression in several zones. SQLite
 * cannot change a key, so the table is rebuilt. Schedules of before are those of UTC.
 */
export const scheduleZones: Migration = {
  version: 422,
  name: 'Time zones of schedules',
  statements: [
    `CREATE TABLE ci_zoned_schedules (
      repository_id TEXT NOT NULL REFERENCES repositories (id) ON DELETE CASCADE,
      workflow_path TEXT NOT NULL,
      cron TEXT NOT NULL,
      time_zone TEXT NOT NULL DEFAULT '',
      sha TEXT NOT NULL,
      actor_id TEXT REFERENCES users (id) ON DELETE SET NULL,
      next_at BIGINT NOT NULL,
      PRIMARY KEY (repository_id, workflow_path, cron, time_zone)
    )`,
    `INSERT INTO ci_zoned_schedules (${columns}) SELECT ${columns} FROM ci_schedules`,
    'DROP TABLE ci_schedules',
    'ALTER TABLE ci_zoned_schedules RENAME TO ci_schedules',
    'CREATE INDEX ci_schedules_next ON ci_schedules (next_at)',
    'CREATE INDEX ci_schedules_planned ON ci_schedules (repository_id, next_at, workflow_path, cron, time_zone)',
  ],
};
