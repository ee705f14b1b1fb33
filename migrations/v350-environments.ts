import type { Migration } from '../src/db/index.ts';

const states = ['waiting', 'queued', 'in_progress', 'pending', 'success', 'failure', 'error', 'inactive'];
const state = (constraint: string) =>
  `TEXT NOT NULL CONSTRAINT ${constraint} CHECK (state IN ('${states.join("', '")}'))`;

/**
 * Environments that jobs deploy to: who lets them, secrets and variables of their own, and the history of deployments.
 * `needs_review` stays when the last reviewer leaves: an environment does not lose its protection with them.
 */
export const environments: Migration = {
  version: 350,
  name: 'Environments',
  statements: [
    `CREATE TABLE ci_environments (
      id INTEGER PRIMARY KEY AUTOINCREMENT,
      repository_id TEXT NOT NULL REFERENCES repositories (id) ON DELETE CASCADE,
      name TEXT NOT NULL,
      name_folded TEXT NOT NULL,
      wait_minutes INTEGER NOT NULL DEFAULT 0,
      needs_review INTEGER NOT NULL DEFAULT 0,
      prevents_self_review INTEGER NOT NULL DEFAULT 0,
      needs_write INTEGER NOT NULL DEFAULT 0,
      admins_bypass INTEGER NOT NULL DEFAULT 1,
      ref_policy TEXT NOT NULL DEFAULT 'all'
        CONSTRAINT ci_environments_ref_policy CHECK (ref_policy IN ('all', 'protected', 'custom')),
      created_at BIGINT NOT NULL,
      updated_at BIGINT NOT NULL,
      CONSTRAINT ci_environments_name UNIQUE (repository_id, name_folded)
    )`,
    `CREATE TABLE ci_environment_reviewers (
      id INTEGER PRIMARY KEY AUTOINCREMENT,
      environment_id INTEGER NOT NULL REFERENCES ci_environments (id) ON DELETE CASCADE,
      user_id TEXT REFERENCES users (id) ON DELETE CASCADE,
      team_id TEXT REFERENCES teams (id) ON DELETE CASCADE
    )`,
    `CREATE INDEX ci_environment_reviewers_environment ON ci_environment_reviewers (environment_id)`,
    `CREATE INDEX ci_environment_reviewers_user ON ci_environment_reviewers (user_id)`,
    `CREATE INDEX ci_environment_reviewers_team ON ci_environment_reviewers (team_id)`,
    `CREATE TABLE ci_environment_refs (
      id INTEGER PRIMARY KEY AUTOINCREMENT,
      environment_id INTEGER NOT NULL REFERENCES ci_environments (id) ON DELETE CASCADE,
      kind TEXT NOT NULL CONSTRAINT ci_environment_refs_kind CHECK (kind IN ('branch', 'tag')),
      pattern TEXT NOT NULL,
      CONSTRAINT ci_environment_refs_pattern UNIQUE (environment_id, kind, pattern)
    )`,
    `CREATE TABLE ci_environment_secrets (
      environment_id INTEGER NOT NULL REFERENCES ci_environments (id) ON DELETE CASCADE,
      name TEXT NOT NULL,
      ciphertext TEXT NOT NULL,
      created_at BIGINT NOT NULL,
      updated_at BIGINT NOT NULL,
      PRIMARY KEY (environment_id, name)
    )`,
    `CREATE TABLE ci_environment_variables (
      environment_id INTEGER NOT NULL REFERENCES ci_environments (id) ON DELETE CASCADE,
      name TEXT NOT NULL,
      value TEXT NOT NULL,
      created_at BIGINT NOT NULL,
      updated_at BIGINT NOT NULL,
      PRIMARY KEY (environment_id, name)
    )`,
    `CREATE TABLE ci_deployments (
      id INTEGER PRIMARY KEY AUTOINCREMENT,
      repository_id TEXT NOT NULL REFERENCES repositories (id) ON DELETE CASCADE,
      environment_id INTEGER REFERENCES ci_environments (id) ON DELETE SET NULL,
      environment TEXT NOT NULL,
      run_id INTEGER REFERENCES ci_runs (id) ON DELETE SET NULL,
      job_id INTEGER,
      ref TEXT NOT NULL,
      sha TEXT NOT NULL,
      task TEXT NOT NULL DEFAULT 'deploy',
      description TEXT NOT NULL DEFAULT '',
      payload TEXT NOT NULL DEFAULT '{}',
      is_transient INTEGER NOT NULL DEFAULT 0,
      is_production INTEGER NOT NULL DEFAULT 0,
      creator_id TEXT REFERENCES users (id) ON DELETE SET NULL,
      state ${state('ci_deployments_state')},
      url TEXT,
      created_at BIGINT NOT NULL,
      updated_at BIGINT NOT NULL
    )`,
    `CREATE INDEX ci_deployments_repository ON ci_deployments (repository_id, id)`,
    `CREATE INDEX ci_deployments_environment ON ci_deployments (environment_id, id)`,
    `CREATE INDEX ci_deployments_present ON ci_deployments (environment_id) WHERE state = 'success'`,
    `CREATE INDEX ci_deployments_commit ON ci_deployments (repository_id, sha, id)`,
    `CREATE INDEX ci_deployments_run ON ci_deployments (run_id)`,
    `CREATE INDEX ci_deployments_creator ON ci_deployments (creator_id)`,
    `CREATE TABLE ci_deployment_statuses (
      id INTEGER PRIMARY KEY AUTOINCREMENT,
      deployment_id INTEGER NOT NULL REFERENCES ci_deployments (id) ON DELETE CASCADE,
      state ${state('ci_deployment_statuses_state')},
      description TEXT NOT NULL DEFAULT '',
      url TEXT,
      log_url TEXT,
      creator_id TEXT REFERENCES users (id) ON DELETE SET NULL,
      created_at BIGINT NOT NULL
    )`,
    `CREATE INDEX ci_deployment_statuses_deployment ON ci_deployment_statuses (deployment_id, id)`,
    `CREATE INDEX ci_deployment_statuses_creator ON ci_deployment_statuses (creator_id)`,
    `CREATE TABLE ci_deployment_reviews (
      id INTEGER PRIMARY KEY AUTOINCREMENT,
      run_id INTEGER NOT NULL REFERENCES ci_runs (id) ON DELETE CASCADE,
      job_id INTEGER NOT NULL,
      environment_id INTEGER,
      environment TEXT NOT NULL,
      reviewer_id TEXT REFERENCES users (id) ON DELETE SET NULL,
      verdict TEXT NOT NULL CONSTRAINT ci_deployment_reviews_verdict CHECK (verdict IN ('approved', 'rejected')),
      is_bypass INTEGER NOT NULL DEFAULT 0,
      comment TEXT NOT NULL DEFAULT '',
      created_at BIGINT NOT NULL
    )`,
    `CREATE INDEX ci_deployment_reviews_run ON ci_deployment_reviews (run_id, id)`,
    `CREATE INDEX ci_deployment_reviews_reviewer ON ci_deployment_reviews (reviewer_id)`,
    `ALTER TABLE ci_jobs ADD COLUMN environment TEXT`,
    `ALTER TABLE ci_jobs ADD COLUMN environment_id INTEGER`,
    `ALTER TABLE ci_jobs ADD COLUMN environment_state TEXT
      CONSTRAINT ci_jobs_environment_state CHECK (environment_state IN ('waiting', 'passed'))`,
    `ALTER TABLE ci_jobs ADD COLUMN environment_url TEXT`,
    `ALTER TABLE ci_jobs ADD COLUMN environment_since BIGINT`,
    `ALTER TABLE ci_jobs ADD COLUMN environment_until BIGINT`,
    `ALTER TABLE ci_jobs ADD COLUMN environment_approved INTEGER NOT NULL DEFAULT 0`,
    `ALTER TABLE ci_jobs ADD COLUMN makes_deployment INTEGER NOT NULL DEFAULT 0`,
    `ALTER TABLE ci_jobs ADD COLUMN deployment_id INTEGER`,
    `CREATE INDEX ci_jobs_environment ON ci_jobs (environment_id) WHERE environment_state = 'waiting'`,
    `CREATE INDEX ci_jobs_environment_since ON ci_jobs (environment_since) WHERE environment_state = 'waiting'`,
    `CREATE INDEX ci_jobs_environment_until ON ci_jobs (environment_until) WHERE environment_state = 'waiting'`,
  ],
};
