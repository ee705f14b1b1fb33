import type { Migration } from '../src/db/index.ts';

/**
 * Whether a repository runs workflows, what the token of a job may do where its workflow does not say (null: the
 * default of the server), and workflows that are switched off.
 */
export const ciRepositorySettings: Migration = {
  version: 142,
  name: 'CiRepositorySettings',
  statements: [
    `CREATE TABLE ci_repository_settings (
      repository_id TEXT PRIMARY KEY NOT NULL REFERENCES repositories (id) ON DELETE CASCADE,
      is_enabled INTEGER NOT NULL DEFAULT 1,
      token_permissions TEXT CHECK (token_permissions IN ('read', 'write'))
    )`,
    `CREATE TABLE ci_disabled_workflows (
      repository_id TEXT NOT NULL REFERENCES repositories (id) ON DELETE CASCADE,
      workflow_path TEXT NOT NULL,
      disabled_by TEXT REFERENCES users (id) ON DELETE SET NULL,
      disabled_at BIGINT NOT NULL,
      PRIMARY KEY (repository_id, workflow_path)
    )`,
    `CREATE INDEX ci_disabled_workflows_by ON ci_disabled_workflows (disabled_by)`,
  ],
};
