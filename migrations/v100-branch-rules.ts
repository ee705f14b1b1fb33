import type { Migration } from '../src/db/index.ts';

const level = (act: string, usual: string): string =>
  `${act}_level TEXT NOT NULL DEFAULT '${usual}' CONSTRAINT branch_rules_${act}
        CHECK (${act}_level IN ('nobody', 'owner', 'admin', 'write')),
      ${act}_tasks INTEGER NOT NULL DEFAULT ${usual === 'write' ? 1 : 0}`;

/**
 * Rules for branches and tags by pattern. The checkbox that kept the default branch from being rewritten becomes a rule
 * with the pattern of the default branch, whichever that is; its id is that of the repository, which no rule has.
 */
export const branchRules: Migration = {
  version: 100,
  name: 'Branch rules',
  statements: [
    `CREATE TABLE branch_rules (
      id TEXT PRIMARY KEY NOT NULL,
      repository_id TEXT NOT NULL REFERENCES repositories (id) ON DELETE CASCADE,
      target TEXT NOT NULL CONSTRAINT branch_rules_target CHECK (target IN ('BRANCH', 'TAG')),
      position BIGINT NOT NULL,
      pattern TEXT NOT NULL,
      ${level('push', 'write')},
      ${level('force', 'nobody')},
      ${level('create', 'write')},
      ${level('delete', 'nobody')},
      linear INTEGER NOT NULL DEFAULT 0,
      created_at BIGINT NOT NULL,
      updated_at BIGINT NOT NULL,
      CONSTRAINT branch_rules_pattern UNIQUE (repository_id, target, pattern)
    )`,
    `CREATE TABLE branch_rule_people (
      rule_id TEXT NOT NULL REFERENCES branch_rules (id) ON DELETE CASCADE,
      act TEXT NOT NULL CONSTRAINT branch_rule_people_act CHECK (act IN ('push', 'force', 'create', 'delete')),
      user_id TEXT NOT NULL REFERENCES users (id) ON DELETE CASCADE,
      PRIMARY KEY (rule_id, act, user_id)
    )`,
    `CREATE INDEX branch_rule_people_person ON branch_rule_people (user_id)`,
    `INSERT INTO branch_rules (id, repository_id, target, position, pattern, created_at, updated_at)
      SELECT id, id, 'BRANCH', 1, '~DEFAULT_BRANCH', created_at, created_at FROM repositories WHERE default_branch_protected = 1`,
    `ALTER TABLE repositories DROP COLUMN default_branch_protected`,
  ],
};
