import type { Migration } from '../src/db/index.ts';

/**
 * A number for each issue of this server, given once and kept when the issue moves: clients of Gitea's API know issues
 * and comments by an integer. The number of a comment follows from it and the position.
 */
export const issueSerials: Migration = {
  version: 84,
  name: 'Issue serials',
  statements: [
    `CREATE TABLE issue_serials (
      serial INTEGER PRIMARY KEY AUTOINCREMENT NOT NULL,
      issue_id TEXT NOT NULL REFERENCES issues (id) ON DELETE CASCADE
    )`,
    `CREATE UNIQUE INDEX issue_serials_issue ON issue_serials (issue_id)`,
    `INSERT INTO issue_serials (issue_id) SELECT id FROM issues ORDER BY created_at, id`,
    `CREATE TRIGGER issue_serials_given AFTER INSERT ON issues BEGIN INSERT INTO issue_serials (issue_id) VALUES (NEW.id); END`,
  ],
};
