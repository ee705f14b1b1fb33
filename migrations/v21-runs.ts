import type { Migration } from '../src/db/index.ts';

const states = `'blocked', 'waiting', 'running', 'cancelling', 'success', 'failure', 'cancelled', 'skipped'`;

/**
 * Runs of workflows. A run has jobs, each attempt its own; a job that a runner has taken has a task, and a job that was
 * lost with its runner may have several. Ids of tasks are never reused, also not those of withdrawn tasks.
 */
export const runs: Migration = {
  version: 21,
  name: 'Runs',
  statements: [
    `CREATE TABLE ci_workflow_files (
      hash TEXT PRIMARY KEY NOT NULL,
      content TEXT NOT NULL
    )`,

    `CREATE TABLE ci_runs (
      id INTEGER PRIMARY KEY AUTOINCREMENT,
      repository_id TEXT NOT NULL REFERENCES repositories (id) ON DELETE CASCADE,
      number INTEGER NOT NULL,
      workflow_path TEXT NOT NULL,
      workflow_name TEXT NOT NULL,
      file_hash TEXT NOT NULL REFERENCES ci_workflow_files (hash),
      title TEXT NOT NULL,
      event TEXT NOT NULL,
      event_payload TEXT NOT NULL,
      ref TEXT NOT NULL,
      sha TEXT NOT NULL,
      is_trusted INTEGER NOT NULL DEFAULT 1,
      actor_id TEXT REFERENCES users (id) ON DELETE SET NULL,
      attempt INTEGER NOT NULL DEFAULT 1,
      attempt_actor_id TEXT REFERENCES users (id) ON DELETE SET NULL,
      status TEXT NOT NULL CONSTRAINT ci_runs_status CHECK (status IN (${states})),
      reason TEXT,
      is_cancelled INTEGER NOT NULL DEFAULT 0,
      concurrency_group TEXT,
      concurrency_state TEXT
        CONSTRAINT ci_runs_concurrency CHECK (concurrency_state IN ('holding', 'pending')),
      created_at INTEGER NOT NULL,
      started_at INTEGER,
      finished_at INTEGER
    )`,
    `CREATE UNIQUE INDEX ci_runs_number ON ci_runs (repository_id, number)`,
    `CREATE INDEX ci_runs_active ON ci_runs (status) WHERE finished_at IS NULL`,
    `CREATE INDEX ci_runs_group ON ci_runs (repository_id, concurrency_group) WHERE concurrency_state IS NOT NULL`,
    `CREATE INDEX ci_runs_file ON ci_runs (file_hash)`,

    `CREATE TABLE ci_jobs (
      id INTEGER PRIMARY KEY AUTOINCREMENT,
      run_id INTEGER NOT NULL REFERENCES ci_runs (id) ON DELETE CASCADE,
      repository_id TEXT NOT NULL REFERENCES repositories (id) ON DELETE CASCADE,
      attempt INTEGER NOT NULL,
      job_key TEXT NOT NULL,
      position INTEGER NOT NULL,
      name TEXT NOT NULL,
      needs TEXT NOT NULL DEFAULT '[]',
      leg TEXT,
      runs_on TEXT,
      continue_on_error INTEGER NOT NULL DEFAULT 0,
      fail_fast INTEGER NOT NULL DEFAULT 1,
      max_parallel INTEGER,
      status TEXT NOT NULL CONSTRAINT ci_jobs_status CHECK (status IN (${states})),
      hold TEXT CONSTRAINT ci_jobs_hold CHECK (hold IN ('run', 'needs', 'parallel', 'concurrency')),
      reason TEXT,
      concurrency_group TEXT,
      concurrency_state TEXT
        CONSTRAINT ci_jobs_concurrency CHECK (concurrency_state IN ('holding', 'pending')),
      task_id INTEGER,
      losses INTEGER NOT NULL DEFAULT 0,
      created_at INTEGER NOT NULL,
      waiting_since INTEGER,
      started_at INTEGER,
      finished_at INTEGER
    )`,
    `CREATE INDEX ci_jobs_run ON ci_jobs (run_id, attempt, position)`,
    `CREATE INDEX ci_jobs_waiting ON ci_jobs (waiting_since, id) WHERE status = 'waiting'`,
    `CREATE INDEX ci_jobs_group ON ci_jobs (repository_id, concurrency_group) WHERE concurrency_state IS NOT NULL`,
    `CREATE INDEX ci_jobs_repository ON ci_jobs (repository_id)`,

    `CREATE TABLE ci_tasks (
      id INTEGER PRIMARY KEY AUTOINCREMENT,
      job_id INTEGER NOT NULL REFERENCES ci_jobs (id) ON DELETE CASCADE,
      runner_id INTEGER REFERENCES ci_runners (id) ON DELETE SET NULL,
      runner_name TEXT NOT NULL,
      request_key TEXT,
      token_hash TEXT NOT NULL,
      status TEXT NOT NULL CONSTRAINT ci_tasks_status
        CHECK (status IN ('running', 'cancelling', 'success', 'failure', 'cancelled', 'skipped')),
      notices TEXT NOT NULL DEFAULT '[]',
      created_at INTEGER NOT NULL,
      confirmed_at INTEGER,
      reported_at INTEGER,
      started_at INTEGER,
      stopped_at INTEGER,
      log_rows INTEGER NOT NULL DEFAULT 0,
      log_bytes INTEGER NOT NULL DEFAULT 0,
      log_dropped INTEGER NOT NULL DEFAULT 0,
      sealed_at INTEGER,
      log_removed_at INTEGER
    )`,
    `CREATE INDEX ci_tasks_job ON ci_tasks (job_id)`,
    `CREATE INDEX ci_tasks_runner ON ci_tasks (runner_id, id)`,
    `CREATE UNIQUE INDEX ci_tasks_token ON ci_tasks (token_hash)`,
    `CREATE INDEX ci_tasks_open ON ci_tasks (id) WHERE sealed_at IS NULL`,

    `CREATE TABLE ci_steps (
      task_id INTEGER NOT NULL REFERENCES ci_tasks (id) ON DELETE CASCADE,
      position INTEGER NOT NULL,
      name TEXT NOT NULL,
      status TEXT NOT NULL CONSTRAINT ci_steps_status
        CHECK (status IN ('waiting', 'running', 'success', 'failure', 'cancelled', 'skipped')),
      started_at INTEGER,
      stopped_at INTEGER,
      log_index INTEGER NOT NULL DEFAULT 0,
      log_length INTEGER NOT NULL DEFAULT 0,
      PRIMARY KEY (task_id, position)
    )`,

    `CREATE TABLE ci_outputs (
      task_id INTEGER NOT NULL REFERENCES ci_tasks (id) ON DELETE CASCADE,
      name TEXT NOT NULL,
      value TEXT,
      PRIMARY KEY (task_id, name)
    )`,
  ],
};
