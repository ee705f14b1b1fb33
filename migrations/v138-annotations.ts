import type { Migration } from '../src/db/index.ts';

/**
 * Annotations that jobs print, summaries of their steps, and jobs that run again with debug logging. `annotated_rows`
 * is how far the log of a task was read for annotations; those rows and the annotations are written together.
 */
export const annotations: Migration = {
  version: 138,
  name: 'Annotations',
  statements: [
    `ALTER TABLE ci_jobs ADD COLUMN debug INTEGER NOT NULL DEFAULT 0`,
    `ALTER TABLE ci_tasks ADD COLUMN annotated_rows BIGINT NOT NULL DEFAULT 0`,
    `CREATE TABLE ci_annotations (
      task_id INTEGER NOT NULL REFERENCES ci_tasks (id) ON DELETE CASCADE,
      row_number BIGINT NOT NULL,
      run_id INTEGER NOT NULL REFERENCES ci_runs (id) ON DELETE CASCADE,
      repository_id TEXT NOT NULL REFERENCES repositories (id) ON DELETE CASCADE,
      commit_id TEXT NOT NULL,
      level TEXT NOT NULL CONSTRAINT ci_annotations_level CHECK (level IN ('error', 'warning', 'notice')),
      path TEXT,
      first_line BIGINT,
      last_line BIGINT,
      title TEXT,
      message TEXT NOT NULL,
      PRIMARY KEY (task_id, row_number)
    )`,
    `CREATE INDEX ci_annotations_commit ON ci_annotations (repository_id, commit_id, task_id, row_number)`,
    `CREATE INDEX ci_annotations_run ON ci_annotations (run_id)`,
    `CREATE TABLE ci_summaries (
      task_id INTEGER NOT NULL REFERENCES ci_tasks (id) ON DELETE CASCADE,
      step INTEGER NOT NULL,
      content TEXT NOT NULL,
      PRIMARY KEY (task_id, step)
    )`,
  ],
};
