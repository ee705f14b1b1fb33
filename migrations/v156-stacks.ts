import type { Migration } from '../src/db/index.ts';

const kept = 'push_id, repository_id, number, base_branch, topic, user_id, created_at';

/**
 * Stacks of pull requests: the commit of another one on which a pull request is built, as of which its own commits
 * begin; and pushes that make one pull request of each commit, so that `pull_pushes` is rebuilt with a row for each.
 */
export const stacks: Migration = {
  version: 156,
  name: 'Stacks',
  statements: [
    'ALTER TABLE pulls ADD COLUMN stacked_on_oid TEXT',
    `CREATE TABLE pull_pushes_of_stacks (
      push_id TEXT NOT NULL REFERENCES pushes (id) ON DELETE CASCADE,
      repository_id TEXT NOT NULL REFERENCES repositories (id) ON DELETE CASCADE,
      number BIGINT NOT NULL,
      base_branch TEXT NOT NULL,
      topic TEXT,
      user_id TEXT NOT NULL REFERENCES users (id) ON DELETE CASCADE,
      created_at BIGINT NOT NULL,
      position BIGINT NOT NULL DEFAULT 0,
      oid TEXT,
      below_oid TEXT,
      PRIMARY KEY (push_id, number)
    )`,
    `INSERT INTO pull_pushes_of_stacks (${kept}) SELECT ${kept} FROM pull_pushes`,
    'DROP TABLE pull_pushes',
    'ALTER TABLE pull_pushes_of_stacks RENAME TO pull_pushes',
    'CREATE INDEX pull_pushes_number ON pull_pushes (repository_id, number)',
    'CREATE INDEX pull_pushes_person ON pull_pushes (user_id, repository_id, created_at)',
    'CREATE INDEX pull_pushes_oldest ON pull_pushes (created_at)',
  ],
};
