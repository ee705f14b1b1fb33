import type { Migration } from '../src/db/index.ts';

const columns = `user_id TEXT REFERENCES users (id) ON DELETE CASCADE,
      organisation_id TEXT REFERENCES organisations (id) ON DELETE CASCADE,
      repository_id TEXT REFERENCES repositories (id) ON DELETE CASCADE,
      name TEXT NOT NULL`;

const oneScope = `(user_id IS NULL OR (organisation_id IS NULL AND repository_id IS NULL))
        AND (organisation_id IS NULL OR repository_id IS NULL)`;

const nameInScope = `(COALESCE(repository_id, organisation_id, user_id, ''), name)`;

/** Secrets and variables of workflows: secrets as ciphertext only, variables as plain text. */
export const secrets: Migration = {
  version: 22,
  name: 'Secrets',
  statements: [
    `CREATE TABLE ci_secrets (
      id TEXT PRIMARY KEY NOT NULL,
      ${columns},
      ciphertext TEXT NOT NULL,
      created_at INTEGER NOT NULL,
      updated_at INTEGER NOT NULL,
      CONSTRAINT ci_secrets_one_scope CHECK (${oneScope})
    )`,
    `CREATE UNIQUE INDEX ci_secrets_name ON ci_secrets ${nameInScope}`,

    `CREATE TABLE ci_variables (
      id TEXT PRIMARY KEY NOT NULL,
      ${columns},
      value TEXT NOT NULL,
      created_at INTEGER NOT NULL,
      updated_at INTEGER NOT NULL,
      CONSTRAINT ci_variables_one_scope CHECK (${oneScope})
    )`,
    `CREATE UNIQUE INDEX ci_variables_name ON ci_variables ${nameInScope}`,
  ],
};
