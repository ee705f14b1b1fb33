import type { Migration } from '../src/db/index.ts';

/** Pull and push mirrors. */
export const mirrors: Migration = {
  version: 52,
  name: 'Mirrors',
  statements: [
    `CREATE TABLE mirrors (
      repository_id TEXT PRIMARY KEY NOT NULL REFERENCES repositories (id) ON DELETE CASCADE,
      direction TEXT NOT NULL CONSTRAINT mirrors_direction CHECK (direction IN ('pull', 'push')),
      url TEXT NOT NULL,
      username TEXT NOT NULL DEFAULT '',
      secret_ciphertext TEXT,
      interval_ms INTEGER,
      prune INTEGER NOT NULL DEFAULT 1,
      is_paused INTEGER NOT NULL DEFAULT 0,
      failures INTEGER NOT NULL DEFAULT 0,
      last_error TEXT,
      last_started_at INTEGER,
      last_ok_at INTEGER,
      next_at INTEGER NOT NULL,
      locked_until INTEGER NOT NULL DEFAULT 0,
      created_at INTEGER NOT NULL,
      updated_at INTEGER NOT NULL
    )`,
    `CREATE INDEX mirrors_due ON mirrors (next_at) WHERE is_paused = 0`,
  ],
};
