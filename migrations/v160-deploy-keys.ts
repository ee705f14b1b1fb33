import type { Migration } from '../src/db/index.ts';

const acts = ['push', 'force', 'create', 'delete'];

/**
 * SSH keys of one repository, and what rules allow them. Until now no push was by one, so a rule that is open to
 * everyone who may push is open to them. A push keeps the title of the key, which may be gone by the time it is shown.
 */
export const deployKeys: Migration = {
  version: 160,
  name: 'Deploy keys',
  statements: [
    `CREATE TABLE deploy_keys (
      id TEXT PRIMARY KEY NOT NULL,
      repository_id TEXT NOT NULL REFERENCES repositories (id) ON DELETE CASCADE,
      title TEXT NOT NULL,
      type TEXT NOT NULL,
      blob_base64 TEXT NOT NULL,
      fingerprint TEXT NOT NULL,
      access TEXT NOT NULL CONSTRAINT deploy_keys_access CHECK (access IN ('read', 'write')),
      added_by TEXT REFERENCES users (id) ON DELETE SET NULL,
      created_at BIGINT NOT NULL,
      last_used_at BIGINT
    )`,
    'CREATE UNIQUE INDEX deploy_keys_fingerprint ON deploy_keys (fingerprint)',
    'CREATE INDEX deploy_keys_repository ON deploy_keys (repository_id, created_at, id)',
    'CREATE INDEX deploy_keys_added_by ON deploy_keys (added_by) WHERE added_by IS NOT NULL',
    ...acts.map((act) => `ALTER TABLE branch_rules ADD COLUMN ${act}_deploy_keys INTEGER NOT NULL DEFAULT 0`),
    ...acts.map((act) => `UPDATE branch_rules SET ${act}_deploy_keys = 1 WHERE ${act}_level = 'write'`),
    'ALTER TABLE pushes ADD COLUMN deploy_key TEXT',
  ],
};
