import type { Migration } from '../src/db/index.ts';

/** Artifacts, and scheduled workflows. */
export const artifactsAndSchedules: Migration = {
  version: 24,
  name: 'CiUpkeep',
  statements: [
    `CREATE TABLE ci_artifacts (
      id INTEGER PRIMARY KEY AUTOINCREMENT,
      run_id INTEGER NOT NULL REFERENCES ci_runs (id) ON DELETE CASCADE,
      attempt INTEGER NOT NULL,
      task_id INTEGER NOT NULL,
      name TEXT NOT NULL,
      form TEXT NOT NULL CONSTRAINT ci_artifacts_form CHECK (form IN ('zip', 'files')),
      file TEXT NOT NULL,
      state TEXT NOT NULL CONSTRAINT ci_artifacts_state CHECK (state IN ('uploading', 'ready', 'removed')),
      size_bytes INTEGER NOT NULL DEFAULT 0,
      digest TEXT,
      created_at INTEGER NOT NULL,
      expires_at INTEGER NOT NULL
    )`,
    `CREATE INDEX ci_artifacts_run ON ci_artifacts (run_id, name)`,
    `CREATE INDEX ci_artifacts_expiry ON ci_artifacts (expires_at) WHERE state <> 'removed'`,

    `CREATE TABLE ci_schedules (
      repository_id TEXT NOT NULL REFERENCES repositories (id) ON DELETE CASCADE,
      workflow_path TEXT NOT NULL,
      cron TEXT NOT NULL,
      sha TEXT NOT NULL,
      actor_id TEXT REFERENCES users (id) ON DELETE SET NULL,
      next_at INTEGER NOT NULL,
      PRIMARY KEY (repository_id, workflow_path, cron)
    )`,
    `CREATE INDEX ci_schedules_next ON ci_schedules (next_at)`,
  ],
};
