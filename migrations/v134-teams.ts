import type { Migration } from '../src/db/index.ts';

/**
 * Teams of organisations: people, and a role for each repository. `team_grants` has the role that each team gives a
 * person on a repository; it is the one statement of it for the policy in SQL and for look-ups.
 */
export const teams: Migration = {
  version: 134,
  name: 'Teams',
  statements: [
    `CREATE TABLE teams (
      id TEXT PRIMARY KEY NOT NULL,
      organisation_id TEXT NOT NULL REFERENCES organisations (id) ON DELETE CASCADE,
      name TEXT NOT NULL,
      name_folded TEXT NOT NULL,
      description TEXT NOT NULL DEFAULT '',
      role TEXT NOT NULL CONSTRAINT teams_role CHECK (role IN ('read', 'write', 'admin')),
      created_at BIGINT NOT NULL,
      CONSTRAINT teams_name UNIQUE (organisation_id, name_folded)
    )`,
    `CREATE TABLE team_serials (
      serial INTEGER PRIMARY KEY AUTOINCREMENT NOT NULL,
      team_id TEXT NOT NULL REFERENCES teams (id) ON DELETE CASCADE
    )`,
    `CREATE UNIQUE INDEX team_serials_team ON team_serials (team_id)`,
    `CREATE TRIGGER team_serials_given AFTER INSERT ON teams BEGIN INSERT INTO team_serials (team_id) VALUES (NEW.id); END`,
    `CREATE TABLE team_members (
      team_id TEXT NOT NULL REFERENCES teams (id) ON DELETE CASCADE,
      user_id TEXT NOT NULL REFERENCES users (id) ON DELETE CASCADE,
      created_at BIGINT NOT NULL,
      PRIMARY KEY (team_id, user_id)
    )`,
    `CREATE INDEX team_members_user ON team_members (user_id, team_id)`,
    `CREATE TABLE team_repositories (
      team_id TEXT NOT NULL REFERENCES teams (id) ON DELETE CASCADE,
      repository_id TEXT NOT NULL REFERENCES repositories (id) ON DELETE CASCADE,
      role TEXT NOT NULL CONSTRAINT team_repositories_role CHECK (role IN ('read', 'write', 'admin')),
      created_at BIGINT NOT NULL,
      PRIMARY KEY (team_id, repository_id)
    )`,
    `CREATE INDEX team_repositories_repository ON team_repositories (repository_id, team_id)`,
    `CREATE VIEW team_grants AS
      SELECT m.user_id AS user_id, g.repository_id AS repository_id, g.role AS role, g.team_id AS team_id
      FROM team_members m JOIN team_repositories g ON g.team_id = m.team_id`,
    `CREATE TABLE branch_rule_teams (
      rule_id TEXT NOT NULL REFERENCES branch_rules (id) ON DELETE CASCADE,
      act TEXT NOT NULL CONSTRAINT branch_rule_teams_act CHECK (act IN ('push', 'force', 'create', 'delete', 'merge')),
      team_id TEXT NOT NULL REFERENCES teams (id) ON DELETE CASCADE,
      PRIMARY KEY (rule_id, act, team_id)
    )`,
    `CREATE INDEX branch_rule_teams_team ON branch_rule_teams (team_id)`,
  ],
};
