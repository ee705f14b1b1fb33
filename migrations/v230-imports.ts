import type { Migration } from '../src/db/index.ts';

/**
 * Imports from other forges. A row of `imports` is a repository that is followed there, with the place where its run
 * is; `import_staged` has what the run has fetched and not written yet; `import_items` what each item was like when it
 * was written last, so that a run writes only what has changed; `import_people` the authors there, with the account
 * that each is here once that was proved.
 */
export const imports: Migration = {
  version: 230,
  name: 'Imports from other forges',
  statements: [
    `CREATE TABLE imports (
      id TEXT PRIMARY KEY NOT NULL,
      repository_id TEXT NOT NULL REFERENCES repositories (id) ON DELETE CASCADE,
      kind TEXT NOT NULL,
      api TEXT NOT NULL,
      project TEXT NOT NULL,
      url TEXT NOT NULL,
      host TEXT NOT NULL,
      secret_ciphertext TEXT,
      options TEXT NOT NULL DEFAULT '{}',
      state TEXT NOT NULL CONSTRAINT imports_state CHECK (state IN ('running', 'done', 'paused', 'ended')),
      run INTEGER NOT NULL DEFAULT 1,
      is_full INTEGER NOT NULL DEFAULT 1,
      is_last INTEGER NOT NULL DEFAULT 0,
      phase TEXT NOT NULL DEFAULT 'describe',
      progress TEXT NOT NULL DEFAULT '{}',
      since BIGINT,
      next_since BIGINT,
      watch_ms BIGINT,
      next_at BIGINT NOT NULL,
      locked_until BIGINT NOT NULL DEFAULT 0,
      waits_until BIGINT,
      failures INTEGER NOT NULL DEFAULT 0,
      last_error TEXT,
      requests BIGINT NOT NULL DEFAULT 0,
      started_by TEXT,
      started_at BIGINT,
      finished_at BIGINT,
      created_at BIGINT NOT NULL,
      updated_at BIGINT NOT NULL
    )`,
    'CREATE UNIQUE INDEX imports_repository ON imports (repository_id)',
    `CREATE INDEX imports_due ON imports (next_at) WHERE state IN ('running', 'done')`,
    'CREATE INDEX imports_claims ON imports (locked_until) WHERE locked_until > 0',
    'CREATE INDEX imports_newest ON imports (created_at DESC, id)',
    `CREATE TABLE import_staged (
      import_id TEXT NOT NULL REFERENCES imports (id) ON DELETE CASCADE,
      number BIGINT NOT NULL,
      kind TEXT NOT NULL,
      item TEXT NOT NULL,
      data TEXT NOT NULL,
      PRIMARY KEY (import_id, number, kind, item)
    )`,
    `CREATE TABLE import_items (
      import_id TEXT NOT NULL REFERENCES imports (id) ON DELETE CASCADE,
      item TEXT NOT NULL,
      fingerprint TEXT NOT NULL,
      PRIMARY KEY (import_id, item)
    )`,
    `CREATE TABLE import_problems (
      import_id TEXT NOT NULL REFERENCES imports (id) ON DELETE CASCADE,
      item TEXT NOT NULL,
      problem TEXT NOT NULL,
      run INTEGER NOT NULL,
      created_at BIGINT NOT NULL,
      PRIMARY KEY (import_id, item, problem)
    )`,
    `CREATE TABLE import_people (
      host TEXT NOT NULL,
      login TEXT NOT NULL,
      remote_id TEXT NOT NULL DEFAULT '',
      name TEXT NOT NULL DEFAULT '',
      email TEXT NOT NULL DEFAULT '',
      url TEXT NOT NULL DEFAULT '',
      user_id TEXT REFERENCES users (id) ON DELETE SET NULL,
      claimed_by TEXT,
      claimed_at BIGINT,
      PRIMARY KEY (host, login)
    )`,
    'CREATE INDEX import_people_user ON import_people (user_id) WHERE user_id IS NOT NULL',
    `CREATE TABLE import_hosts (
      host TEXT PRIMARY KEY NOT NULL,
      blocked_until BIGINT NOT NULL
    )`,
    'ALTER TABLE review_comments ADD COLUMN origin TEXT',
    `CREATE TABLE imported_reactions (
      issue_id TEXT NOT NULL REFERENCES issues (id) ON DELETE CASCADE,
      position BIGINT NOT NULL,
      kind TEXT NOT NULL,
      person TEXT NOT NULL,
      PRIMARY KEY (issue_id, position, kind, person)
    )`,
  ],
};
