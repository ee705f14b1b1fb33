import type { Migration } from '../src/db/index.ts';

const acts = `'push', 'force', 'create', 'delete', 'merge', 'approve'`;

/** SQLite cannot change a constraint, so a table that says what people or teams may do is rebuilt. */
const rebuilt = (table: string, subject: string, subjects: string, index: string): string[] => [
  `CREATE TABLE ${table}_rebuilt (
    rule_id TEXT NOT NULL REFERENCES branch_rules (id) ON DELETE CASCADE,
    act TEXT NOT NULL CONSTRAINT ${table}_act CHECK (act IN (${acts})),
    ${subject} TEXT NOT NULL REFERENCES ${subjects} (id) ON DELETE CASCADE,
    PRIMARY KEY (rule_id, act, ${subject})
  )`,
  `INSERT INTO ${table}_rebuilt (rule_id, act, ${subject}) SELECT rule_id, act, ${subject} FROM ${table}`,
  `DROP TABLE ${table}`,
  `ALTER TABLE ${table}_rebuilt RENAME TO ${table}`,
  `CREATE INDEX ${index} ON ${table} (${subject})`,
];

/** A rule may name the people and teams whose approvals alone count; until now everyone's with write access did. */
export const approvers: Migration = {
  version: 437,
  name: 'Approvers',
  statements: [
    'ALTER TABLE branch_rules ADD COLUMN approvers_named INTEGER NOT NULL DEFAULT 0',
    ...rebuilt('branch_rule_people', 'user_id', 'users', 'branch_rule_people_person'),
    ...rebuilt('branch_rule_teams', 'team_id', 'teams', 'branch_rule_teams_team'),
  ],
};
