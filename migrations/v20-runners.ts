import type { Migration } from '../src/db/index.ts';

/** The scope of a CI row: a repository, a person, an organisation, or the instance when none is set. */
const scope = `user_id TEXT REFERENCES users (id) ON DELETE CASCADE,
      organisation_id TEXT REFERENCES organisations (id) ON DELETE CASCADE,
      repository_id TEXT REFERENCES repositories (id) ON DELETE CASCADE`;

const oneScope = `(user_id IS NULL OR (organisation_id IS NULL AND repository_id IS NULL))
        AND (organisation_id IS NULL OR repository_id IS NULL)`;

/** CI runners and their registration tokens. Ids of runners are never reused. */
export const runners: Migration = {
  version: 20,
  name: 'Runners',
  statements: [
    `CREATE TABLE ci_registration_tokens (
      id TEXT PRIMARY KEY NOT NULL,
      ${scope},
      token_hash TEXT NOT NULL,
      created_by TEXT REFERENCES users (id) ON DELETE SET NULL,
      created_at INTEGER NOT NULL,
      replaced_at INTEGER,
      CONSTRAINT ci_registration_tokens_one_scope CHECK (${oneScope})
    )`,
    `CREATE UNIQUE INDEX ci_registration_tokens_hash ON ci_registration_tokens (token_hash)`,

    `CREATE TABLE ci_runners (
      id INTEGER PRIMARY KEY AUTOINCREMENT,
      uuid TEXT NOT NULL,
      ${scope},
      token_salt TEXT NOT NULL,
      token_hash TEXT NOT NULL,
      name TEXT NOT NULL,
      version TEXT NOT NULL DEFAULT '',
      labels TEXT NOT NULL DEFAULT '[]',
      capabilities TEXT NOT NULL DEFAULT '[]',
      ephemeral INTEGER NOT NULL DEFAULT 0,
      disabled_at INTEGER,
      created_at INTEGER NOT NULL,
      last_seen_at INTEGER,
      last_active_at INTEGER,
      CONSTRAINT ci_runners_one_scope CHECK (${oneScope})
    )`,
    `CREATE UNIQUE INDEX ci_runners_uuid ON ci_runners (uuid)`,
  ],
};
